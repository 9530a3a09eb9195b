// Property injection of the app for these constructs, as CDK's own constructs have it. CDK exports no function for it.
import { PropertyInjectors } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** The properties as the injector of the nearest scope returns them, or as they are if there's no injector for the id. */
export function injected<Props>(injectionId: string, scope: Construct, id: string, props: Props): Props {
  for (const each of [...scope.node.scopes].reverse()) {
    const injector = PropertyInjectors.hasPropertyInjectors(each)
      ? PropertyInjectors.of(each).for(injectionId)
      : undefined;
    if (injector) return injector.inject(props, { scope, id });
  }
  return props;
}
