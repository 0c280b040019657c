import { contextRoot } from '@meup/protocol'
import { type ContextView, printable, type Quoted } from '@meup/views'
import type { Level } from './folding.js'
import type { Heading } from './row.js'
import { withoutMarks } from './text.js'

/** The heading of a context, at this moment. */
export function headingOf(view: ContextView, level: Level, isMuted: boolean): Heading {
  const { context, state, owner, counts, contributors, references, answer, metadata } = view
  const confidence = metadata?.confidence
  return {
    context,
    state,
    reasoningVisible: view.reasoningVisible,
    hiddenBy: view.hiddenBy,
    startedAt: view.startedAt,
    expiresAt: view.expiresAt,
    duration: view.duration,
    owner: owner ?? contributors[0] ?? '',
    level,
    isMuted,
    isNested: contextRoot(context) !== context,
    isLive: state === 'open',
    thoughts: counts.thoughts,
    calls: counts.calls,
    late: counts.late,
    opening: shown(view.opening),
    ending: shown(view.ending),
    isWithheld: isWithheld(view.opening) || isWithheld(view.ending),
    references,
    confidence: typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : null,
    answer: answer?.id ?? null,
  }
}

/** Nothing where nothing was said. */
const shown = (quoted: Quoted | null): string | null => withoutMarks(printable(quoted?.text ?? '')) || null

const isWithheld = (quoted: Quoted | null): boolean => quoted !== null && quoted.text === null
