/** JavaScript that runs if a page takes a text for code. It leaves a mark in `window`. */
const run = "window.hit='script'"

/** Elements that run code by themselves, with the attribute that has the code. */
const elements: readonly (readonly [before: string, handler: string, after?: string])[] = [
  ['<img src=x ', 'onerror'],
  ['<img srcset=",,x" ', 'onerror'],
  ['<svg ', 'onload'],
  ['<svg><animate attributeName=x dur=1s ', 'onbegin'],
  ['<svg><set attributeName=x dur=1s ', 'onbegin'],
  ['<body ', 'onload'],
  ['<iframe src=about:blank ', 'onload'],
  ['<input autofocus ', 'onfocus'],
  ['<select autofocus ', 'onfocus'],
  ['<textarea autofocus ', 'onfocus'],
  ['<button autofocus ', 'onfocus'],
  ['<a href=# autofocus tabindex=1 ', 'onfocus'],
  ['<div tabindex=1 autofocus ', 'onfocus'],
  ['<video ', 'onerror', '<source>'],
  ['<audio src=x ', 'onerror'],
  ['<video src=x ', 'onloadstart'],
  ['<object data=x ', 'onerror'],
  ['<embed src=x ', 'onload'],
  ['<link rel=stylesheet href=x ', 'onerror'],
  ['<style ', 'onload'],
  ['<script src=x ', 'onerror'],
  ['<details open ', 'ontoggle'],
  ['<marquee ', 'onstart'],
  ['<dialog open ', 'onanimationstart'],
  ['<x style="animation:a" ', 'onanimationend'],
  ['<form ', 'onsubmit', '<input type=submit autofocus>'],
  ['<track default src=x ', 'onerror'],
]
const quotes = ['"', "'", ''] as const
const handled = elements.flatMap(([before, handler, after = '']) =>
  quotes.map(
    (quote) =>
      `${before}${handler}=${quote}${run.replaceAll("'", quote === "'" ? '`' : "'")}${quote}>${after}`,
  ),
)

const scripts = [
  `<script>${run}</script>`,
  `<SCRIPT>${run}</SCRIPT >`,
  `<scr<script>ipt>${run}</scr</script>ipt>`,
  `<script\n>${run}</script\n>`,
  `<script/x>${run}</script/x>`,
  `<script type=module>${run}</script>`,
  `<svg><script>${run}</script></svg>`,
  `<template><script>${run}</script></template>`,
  `<iframe srcdoc="<script>top.hit='script'</script>">`,
  `<object data="data:text/html,<script>${run}</script>">`,
  `<embed src="data:text/html;base64,PHNjcmlwdD50b3AuaGl0PTE8L3NjcmlwdD4=">`,
  `<meta http-equiv=refresh content="0;url=javascript:${run}">`,
  `<base href="https://elsewhere.example/">`,
  `<style>@import 'https://elsewhere.example/x.css';*{background:url(https://elsewhere.example/y)}</style>`,
  `<div style="background:url(https://elsewhere.example/z)">`,
]

/** Texts that end the element, attribute or comment into which a page may have put them. */
const escapes = [
  `"><script>${run}</script>`,
  `'><script>${run}</script>`,
  `</textarea><script>${run}</script>`,
  `</title><script>${run}</script>`,
  `</style><script>${run}</script>`,
  `</script><script>${run}</script>`,
  `--><script>${run}</script>`,
  `]]><script>${run}</script>`,
  `</noscript><img src=x onerror=${run}>`,
  `" autofocus onfocus="${run}" x="`,
  `' autofocus onfocus='window.hit=1' x='`,
  `\${${run}}`,
  `{{constructor.constructor("${run}")()}}`,
  `*/${run}/*`,
  `';${run};//`,
  `\u2028${run}`,
  `%3Cscript%3E${run}%3C/script%3E`,
  `&lt;img src=x onerror=${run}&gt;`,
  `&#60;img src=x onerror=${run}&#62;`,
  `\\u003cimg src=x onerror=${run}\\u003e`,
  `+ADw-script+AD4-${run}+ADw-/script+AD4-`,
  `＜script＞${run}＜/script＞`,
  `<svg></p><style><a id="</style><img src=1 onerror=${run}>">`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`,
  `<form id=root><input name=parentNode><input name=innerHTML>`,
  `<a id=document name=body>`,
]

const addresses = [
  'javascript:',
  'JaVaScRiPt:',
  'java\nscript:',
  ' javascript:',
  'javascript&colon;',
  'vbscript:',
  'data:text/html,',
]
const links = addresses.flatMap((scheme) => [
  `[press](${scheme}${run})`,
  `[press](<${scheme}${run}>)`,
  `<${scheme}${run}>`,
  `![seen](${scheme}${run})`,
  `<a href="${scheme}${run}">press</a>`,
])
const markdown = [
  `[press]: javascript:${run}\n\n[press]`,
  `![x](x"onerror="${run})`,
  `![x](https://elsewhere.example/pixel.png)`,
  `[x](https://elsewhere.example/" onmouseover="${run})`,
  `\`\`\`html"><img src=x onerror=${run}>\n\`\`\``,
  `<https://elsewhere.example/"onclick="${run}>`,
]

/** Texts that run code, load something, or become part of the page if it takes them for markup. */
export const markup: readonly string[] = [...handled, ...scripts, ...escapes, ...links, ...markdown]

const at = (...codes: readonly number[]): string => String.fromCodePoint(...codes)
const range = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => at(first + index))

/** Texts that a terminal takes for commands. */
const commands = [
  '\u001b[2J',
  '\u001b[H',
  '\u001b[1A\u001b[2K',
  '\u001b[8m',
  '\u001b[31;1m',
  '\u001b[?1049h',
  '\u001b[?25l',
  '\u001b[6n',
  '\u001b[c',
  '\u001b]0;title\u0007',
  '\u001b]8;;https://elsewhere.example\u001b\\link\u001b]8;;\u001b\\',
  '\u001b]52;c;cm0gLXJm\u0007',
  '\u001b]1337;File=inline=1:AAAA\u0007',
  '\u001bP+q544e\u001b\\',
  '\u001b_application\u001b\\',
  '\u001bc',
  '\u001b#8',
  '\u001b(0',
  '\u009b2J',
  '\u009d0;title\u009c',
  'safe\rdanger',
  'no\b\byes',
]
/** Characters that reorder, hide or join their neighbours. */
const invisible = [
  ...range(0x200b, 0x200f),
  ...range(0x202a, 0x202e),
  ...range(0x2060, 0x2064),
  ...range(0x2066, 0x206f),
  ...range(0xfff9, 0xfffb),
  ...range(0xe0061, 0xe007a),
  ...[0x00ad, 0x061c, 0x180e, 0xfeff, 0x2028, 0x2029, 0x1d173, 0x1d17a, 0xe0001, 0xe007f].map((code) =>
    at(code),
  ),
]
const controls = [...range(0x00, 0x1f), ...range(0x7f, 0x9f)].filter((each) => !/[\t\n]/.test(each))

/** Texts that are displayed differently from what they contain, or change how other texts are displayed. */
export const disguises: readonly string[] = [
  ...[...controls, ...invisible, ...commands].map((each) => `approve ${each}pay${each} eve`),
  '\u202egpj.exe',
  'user\u2066 // \u2069admin',
  '\u202e\u2066// access allowed\u2069 \u2066',
]
