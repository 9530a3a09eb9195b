/** Shows each text of the page as it is: names and answers of others may hold marks of direction or characters without a width. */

import { visible } from "onceonly/kit";
import { type ComponentChildren, options } from "preact";

/** Attributes that people see, or hear. */
const READ = ["title", "aria-label", "placeholder"] as const;

/** For everything that is made from now on, so that no new field can forget it. */
export function showAllText(): void {
  const { vnode: former } = options;
  options.vnode = (vnode) => {
    const props = vnode.props as Record<string, unknown>;
    if (props.children !== undefined) props.children = shown(props.children as ComponentChildren);
    for (const name of READ) if (typeof props[name] === "string") props[name] = visible(props[name]);
    former?.(vnode);
  };
}

function shown(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return visible(children);
  return Array.isArray(children) ? children.map(shown) : children;
}
