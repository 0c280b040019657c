import { lengthOf } from './extent.js'
import { isApart, mostWays, sourceOf } from './glance.js'
import type { Group, Part, Repeat, Sequence, Unit } from './syntax.js'

/**
 * A run of characters that holds something that is made of them, `[a-z\d]*(?:[a-z]\d)[a-z\d]*`, always goes as far as
 * these characters do, where something else follows, or nothing. So it is read as just that run, before which is looked
 * whether it holds it: there is nothing left to try.
 */
export function withRuns(sequence: Sequence, behind: Sequence = []): Sequence {
  const read: Part[] = []
  for (let at = 0; at < sequence.length; at++) {
    const [part, inside, rest] = sequence.slice(at)
    if (part === undefined) break
    const after = [...sequence.slice(at + 3), ...behind]
    const held = heldBy(part, inside, rest)
    const source = held && (after.length === 0 || isApart(held.unit, after)) && sourceOf(held.group, mostWays)
    if (held && source) {
      read.push({ type: 'edge', source: `(?=${held.unit.source}*?${source})` }, { ...held.run, least: 1 })
      at += 2
    } else if (part.type === 'group') {
      const next = [...sequence.slice(at + 1), ...behind]
      read.push({ ...part, choices: part.choices.map((choice) => withRuns(choice, next)) })
    } else read.push(part)
  }
  return read
}

/** What a run holds that goes on behind it, as little of it as tells that it is there. */
function heldBy(
  run: Part,
  inside: Part | undefined,
  rest: Part | undefined,
): { run: Run; unit: Unit; group: Group } | undefined {
  if (!isRun(run) || inside?.type !== 'group' || inside.name !== undefined) return undefined
  const unit = run.part
  if (rest === undefined || !isRun(rest) || rest.part !== unit) return undefined
  const group = { ...inside, choices: inside.choices.map(withoutEnds) }
  return lengthOf(group).least > 0 && isPartOf(group, unit) ? { run, unit, group } : undefined
}

type Run = Repeat & { readonly part: Unit }

const isRun = (part: Part): part is Run =>
  part.type === 'repeat' &&
  part.part.type === 'unit' &&
  part.least === 0 &&
  part.most === Infinity &&
  !part.isLazy

/** The run that is around it takes what is more than it needs. */
const withoutEnds = (choice: Sequence): Sequence =>
  choice.map((part, at) => {
    const isEnd = at === 0 || at === choice.length - 1
    return isEnd && part.type === 'repeat' ? { ...part, most: part.least } : part
  })

/** Whether a part is bounded, and made of nothing but such characters. */
function isPartOf(part: Part, unit: Unit): boolean {
  switch (part.type) {
    case 'edge':
      return false
    case 'unit':
      return [...part.characters].every((character) => character < '\x80' && unit.characters.has(character))
    case 'repeat':
      return part.most < Infinity && isPartOf(part.part, unit)
    case 'group':
      return (
        part.name === undefined &&
        part.choices.every((choice) => choice.every((each) => isPartOf(each, unit)))
      )
  }
}
