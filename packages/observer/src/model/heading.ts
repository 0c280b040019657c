import { type ContextView, printable, type Quoted } from '@meup/folds'
import { contextRoot } from '@meup/protocol'
import type { Level } from './folding.js'
import type { Heading } from './row.js'
import { nameText, withoutMarks } from './text.js'

/** The heading of a context, at this moment. */
export function headingOf(view: ContextView, level: Level, isMuted: boolean): Heading {
  const { context, state, owner, counts, contributors, references, proposals, answer, metadata } = view
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
    // A free path has a name that says something, and often nothing else.
    opening: shown(view.opening) ?? (state === 'free' ? nameText(context) : null),
    ending: shown(view.ending),
    isWithheld: isWithheld(view.opening) || isWithheld(view.ending),
    references,
    // The view goes on changing its list.
    proposals: [...proposals],
    confidence: typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : null,
    answer: answer?.id ?? null,
  }
}

/** Nothing where nothing was said. */
const shown = (quoted: Quoted | null): string | null => withoutMarks(printable(quoted?.text ?? '')) || null

const isWithheld = (quoted: Quoted | null): boolean => quoted !== null && quoted.text === null
