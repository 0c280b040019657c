import { type Run, runsOf } from './cells.js'

/** A screen of a terminal in a recording; `ms`: milliseconds to show it. */
export interface Frame {
  /** Rows of the screen, with colours as escape sequences. */
  readonly screen: string
  readonly cursor: { readonly column: number; readonly row: number }
  readonly ms: number
}

export interface Recording {
  readonly title: string
  readonly columns: number
  readonly rows: number
  readonly frames: readonly Frame[]
}

const [size, cell, line, margin, bar] = [14, 8.43, 19, 14, 34]
const colours = ['#969896', '#e58b9b', '#b5bd68', '#f0c674', '#81a2be', '#c9a6d8', '#8abeb7', '#c5c8c6']
const colourRules = colours.map((colour, at) => `.c3${at},.c9${at}{fill:${colour}}`).join('')

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const px = (value: number): string => `${Math.round(value * 10) / 10}`

/** Draws a recording as an SVG that plays by itself. With `prefers-reduced-motion`, it shows the last screen. */
export function animate({ title, columns, rows, frames }: Recording): string {
  const [width, height] = [Math.ceil(columns * cell + 2 * margin), rows * line + bar + margin]
  const places = new Map<string, number>()
  const drawn = frames.map(({ screen, cursor }, at) => {
    const uses = runsOf(screen).flatMap((runs, y) => {
      const text = rowText(runs)
      if (text === '') return []
      const place = places.get(text) ?? places.set(text, places.size).size - 1
      return `<use href="#r${place}" y="${y * line}"/>`
    })
    const [x, y] = [cursor.column * cell, cursor.row * line - size + 2]
    return `<g transform="translate(${at * width})">${uses.join('')}<rect class="k" x="${px(x)}" y="${y}" width="${cell}" height="${line - 2}"/></g>`
  })
  const texts = [...places].map(([text, place]) => `<text id="r${place}">${text}</text>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<title>${escapeXml(title)}</title>
<style>
text{font:${size}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c5c8c6;white-space:pre}
.b{font-weight:700}.d{fill-opacity:.8}.k{fill:#c5c8c6;opacity:.5}
${colourRules}
.f{transform:translateX(-${(frames.length - 1) * width}px)}
@media (prefers-reduced-motion:no-preference){.f{animation:p ${durationOf(frames) / 1000}s step-end infinite}}
@keyframes p{${keyframes(frames, width)}}
</style>
<rect width="100%" height="100%" rx="8" fill="#1d1f21"/>
<circle cx="20" cy="17" r="5" fill="#e58b9b"/><circle cx="38" cy="17" r="5" fill="#f0c674"/><circle cx="56" cy="17" r="5" fill="#b5bd68"/>
<defs>${texts.join('')}</defs>
<g transform="translate(${margin} ${bar + size})"><g class="f">
${drawn.join('\n')}
</g></g>
</svg>
`
}

const rowText = (runs: readonly Run[]): string =>
  runs
    .map(({ column, text, look }) => {
      const classes = look.length === 0 ? '' : ` class="${look.join(' ')}"`
      return `<tspan x="${px(column * cell)}"${classes}>${escapeXml(text)}</tspan>`
    })
    .join('')

const durationOf = (frames: readonly Frame[]): number => frames.reduce((sum, { ms }) => sum + ms, 0)

function keyframes(frames: readonly Frame[], width: number): string {
  const all = durationOf(frames)
  let before = 0
  return frames
    .map(({ ms }, at) => {
      const start = before
      before += ms
      return `${Math.round((100_000 * start) / all) / 1000}%{transform:translateX(-${at * width}px)}`
    })
    .join('')
}
