/** Draws a real run of the deploy-review example: `pnpm picture` writes deploy-review.svg beside this file. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const question = 'Should we deploy this auth change?'
const start = fileURLToPath(new URL('../../examples/deploy-review/dist/start.js', import.meta.url))
const run = execFileSync(process.execPath, [start, '--once', question], { encoding: 'utf8' })

const columns = 112
const [left, top, line, size] = [20, 52, 19, 13]
const colours: Record<string, string> = {
  ana: '#f0c674',
  'security-agent': '#e58b9b',
  'perf-agent': '#8abeb7',
  files: '#81a2be',
}

/** Breaks a line before `columns`, with the rest indented below its text. */
function wrap(text: string): string[] {
  const indent = /^ */.exec(text)?.[0] ?? ''
  const lines: string[] = []
  let current = ''
  for (const word of text.trim().split(' ')) {
    const prefix = lines.length === 0 ? indent : `${indent}    `
    const longer = current === '' ? `${prefix}${word}` : `${current} ${word}`
    if (current !== '' && [...longer].length > columns) {
      lines.push(current)
      current = `${indent}    ${word}`
    } else current = longer
  }
  return [...lines, current]
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const rows = run
  .trimEnd()
  .split('\n')
  .flatMap((text) => {
    const speaker = /^ *([\w-]+)/.exec(text)?.[1] ?? ''
    const isAnswer = /^[\w-]+: /.test(text)
    return wrap(text).map((part) => ({
      part,
      fill: colours[speaker] ?? '#c5c8c6',
      weight: isAnswer ? 700 : 400,
    }))
  })

const text = ({ part, fill, weight }: (typeof rows)[number], index: number): string =>
  `<text x="${left}" y="${top + index * line}" fill="${fill}" font-weight="${weight}" xml:space="preserve">${escapeXml(part)}</text>`

const [width, height] = [left * 2 + columns * size * 0.605, top + rows.length * line]
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${height}" width="${Math.ceil(width)}" height="${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${size}" role="img" aria-label="A run of the deploy-review example">
<rect width="100%" height="100%" rx="8" fill="#1d1f21"/>
<text x="${left}" y="28" fill="#969896">$ npx -y pnpm@10 start --once "${question}"</text>
${rows.map(text).join('\n')}
</svg>
`
writeFileSync(new URL('deploy-review.svg', import.meta.url), svg)
