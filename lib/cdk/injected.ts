// Property injection for these constructs, as for CDK's own. CDK doesn't export a function for it.
import { PropertyInjectors } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** The properties after the nearest scope's injector for the id, or unchanged if there is none. */
export function injected<Props>(injectionId: string, scope: Construct, id: string, props: Props): Props {
  for (const each of [...scope.node.scopes].reverse()) {
    const injector = PropertyInjectors.hasPropertyInjectors(each)
      ? PropertyInjectors.of(each).for(injectionId)
      : undefined;
    if (injector) return injector.inject(props, { scope, id });
  }
  return props;
}
