/** Makes invisible characters in the page's strings visible: foreign names and answers may contain direction marks or zero-width characters. */

import { visible } from "onceonly/kit";
import { type ComponentChildren, options } from "preact";

/** Attributes that people see, or that a screen reader reads. */
const READ = ["title", "aria-label", "placeholder"] as const;

/** Applies to everything rendered from now on, so a new field can't miss it. */
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
