import type { Random } from '../random.js'

/** Minimum and maximum characters of a paragraph. */
const [shortest, longest] = [200, 1500]

/** Splits a text at blank lines; joins short parts, and cuts long ones. */
export function paragraphsOf(text: string): string[] {
  const found: string[] = []
  let current = ''
  for (const block of text.split(/\n\s*\n/)) {
    current = current === '' ? block : `${current}\n\n${block}`
    if (current.length < shortest) continue
    found.push(clip(current))
    current = ''
  }
  return found
}

/** Cuts a long text at the end of a line, if possible. */
function clip(text: string): string {
  if (text.length <= longest) return text
  const end = text.lastIndexOf('\n', longest)
  return text.slice(0, end < shortest ? longest : end)
}

/** Takes consecutive lines from anywhere in a text, for files without blank lines. */
export function excerpt(text: string, random: Random): string {
  const lines = text.split('\n')
  const count = random.integer(12, 30)
  const start = random.integer(0, Math.max(0, lines.length - count))
  return clip(lines.slice(start, start + count).join('\n'))
}

/** Makes a diff of a file: some of its lines are marked as removed, added or changed. */
export function diffOf(path: string, text: string, random: Random): string {
  const lines = text.split('\n').flatMap((line) => {
    const fate = random.next()
    if (fate < 0.12) return [`-${line}`]
    if (fate < 0.3) return [`+${line}`]
    return fate < 0.38 ? [`-${line}`, `+${line.replace(/\w+/, 'changed')}`] : [` ${line}`]
  })
  const line = random.integer(1, 900)
  const object = (): string => random.characters('0123456789abcdef', 7)
  return [
    `diff --git a/${path} b/${path}`,
    `index ${object()}..${object()} 100644`,
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -${line},${lines.length} +${line + 2},${lines.length} @@`,
    ...lines,
  ].join('\n')
}
