// A JavaScript tool for `jp:tool@0.1.0`: answers with its arguments in upper case and the root it was given.
//
// `cargo xtask interop` turns it into a component; it must not know how the host runs it.

export function run(ctx, name, args, answers) {
  if (ctx.action === "format-arguments") {
    return { tag: "success", val: `${name} ${args}` };
  }
  return { tag: "success", val: `${args.toUpperCase()} ${ctx.root}` };
}
