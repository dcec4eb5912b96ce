/** The reference's style sheet: the pages' colours and fonts, without their scripts. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --ground: #f5f4f0; --surface: #fdfcfa; --well: #eeece6; --line: #dcd8ce; --ink: #1c1e20;
  --ink-soft: #5c6064; --link: #1971c2; --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace }
@media (prefers-color-scheme: dark) { :root { --ground: #0f1113; --surface: #15181b; --well: #1c2024; --line: #2a2f34;
  --ink: #e9e7e2; --ink-soft: #9da3a9; --link: #74c0fc } }
* { box-sizing: border-box }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); background: var(--ground); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; font-variant-numeric: tabular-nums }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem; border-right: 1px solid var(--line); font-size: 13px }
nav h2 { margin: 0 0 .5rem; font-size: 12px; color: var(--ink-soft) } nav ul { list-style: none; margin: 0 0 1.5rem; padding: 0 }
nav a { display: block; padding: .15rem 0; overflow-wrap: anywhere; text-decoration: none; color: var(--ink-soft) }
nav a:hover { color: var(--ink) } nav b { font: 600 11px var(--mono) }
main { max-width: 62rem; padding: 2rem clamp(1rem, 4vw, 3rem) 4rem } h1 { margin: 0 0 1rem; font-size: 26px }
h1, h2, h3 { font-weight: 600; line-height: 1.3; scroll-margin-top: 1rem } main h2 { margin: 3rem 0 .75rem; font-size: 20px }
h3 { margin: 0 0 .5rem; font-size: 15px; overflow-wrap: anywhere }
section { margin: 1.25rem 0; padding: 1.25rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface) }
section p { margin: .5rem 0 } a { color: var(--link) } code { font: .9em var(--mono) }
.method { padding: .1rem .45rem; border-radius: 5px; background: var(--well); font: 600 12px var(--mono) }
.who, i { color: var(--ink-soft); font-style: normal } i { font-size: 12px } .wide { overflow-x: auto; margin: .75rem 0 }
table { width: 100%; border-collapse: collapse; font-size: 13.5px } th { text-align: left; font-weight: 600; color: var(--ink-soft) }
th, td { padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top } td:first-child { white-space: nowrap }
tr:target { background: var(--well) } .ends { font-size: 13px; line-height: 2 }
.ends span, .code { margin-right: .35rem; padding: .15rem .45rem; border: 1px solid var(--line); border-radius: 5px; white-space: nowrap }
.code { color: var(--ink-soft); text-decoration: none; font: 12px var(--mono) } .code:hover { color: var(--ink) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
@media (max-width: 60rem) { body { display: block } nav { position: static; height: 13rem; border: 0; border-bottom: 1px solid var(--line) } }
`
