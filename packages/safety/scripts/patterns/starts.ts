import type { Part, Sequence } from './syntax.js'

/** Starts of one pattern. */
const most = 512
/** Characters of a start: fewer are too common, more are not worth their memory. */
const shortest = 2
const longest = 8

/** In lower case, what every match of a pattern begins with, one or the other; undefined where that tells too little. */
export function startsOf(choices: readonly Sequence[]): readonly string[] | undefined {
  const starts = choices.flatMap(startsOfSequence)
  if (starts.length > most || starts.some(({ text }) => text.length < shortest)) return undefined
  const texts = [...new Set(starts.map(({ text }) => text))]
  return texts.filter((text) => !texts.some((other) => other !== text && text.startsWith(other)))
}

/** Characters of a class that are told apart. */
const mostLetters = 8

interface Start {
  readonly text: string
  /** It may go on with what follows. */
  readonly isOpen: boolean
}

const nothing: readonly Start[] = [{ text: '', isOpen: true }]
const unknown: readonly Start[] = [{ text: '', isOpen: false }]

function startsOfSequence(sequence: Sequence): readonly Start[] {
  let starts = nothing
  for (const part of sequence) {
    const next = startsOfPart(part)
    const longer = starts.flatMap((start) =>
      start.isOpen ? next.map((each) => joined(start, each)) : [start],
    )
    if (longer.length > most) break
    starts = longer
  }
  return starts
}

const joined = ({ text }: Start, next: Start): Start => {
  const whole = text + next.text
  return { text: whole.slice(0, longest), isOpen: next.isOpen && whole.length < longest }
}

/** What is but another form of a letter is read as that letter elsewhere. */
const isUsual = (character: string): boolean => character !== '\u017f' && character !== '\u212a'

function startsOfPart(part: Part): readonly Start[] {
  switch (part.type) {
    case 'edge':
      return nothing
    case 'unit': {
      // In either case, and with its other forms.
      if (part.characters.size > 4 * mostLetters) return unknown
      const letters = [...new Set([...part.characters].filter(isUsual).map((each) => each.toLowerCase()))]
      return letters.length > mostLetters ? unknown : letters.map((text) => ({ text, isOpen: true }))
    }
    case 'group':
      return part.choices.flatMap(startsOfSequence)
    case 'repeat': {
      const isOnce = part.most === 1
      const once = startsOfPart(part.part).map(({ text, isOpen }) => ({ text, isOpen: isOpen && isOnce }))
      return part.least > 0 ? once : [{ text: '', isOpen: isOnce }, ...once]
    }
  }
}
