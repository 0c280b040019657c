import type { WorkMeter } from '../work.js'
import type { Said } from './recently-said.js'
import type { Speech } from './speech.js'
import type { GuardFinding, GuardMaker, GuardSettings } from './text-guard.js'
import type { UtteredText } from './uttered-texts.js'

/** Whether there is certainly nothing to be found in the texts of an envelope, in a run where this was said. */
export type Survey = (texts: readonly UtteredText[], speech: Speech, said: Said, meter?: WorkMeter) => boolean

/**
 * Nearly always there is nothing to be found. That shows in a few looks at all texts together, however many they are;
 * they may see too much in them, but never too little.
 */
export function compileSurvey<Settings extends GuardSettings, Finding extends GuardFinding>(
  maker: GuardMaker<Settings, Finding>,
  settings: Settings,
): Survey {
  const { maxLength, rules, policy } = settings
  // Only of the text itself it can be said where it begins and ends.
  if ([...rules, ...policy].some(({ pattern }) => /\\[Az]/.test(pattern))) return () => false
  const together = maker.compile({
    ...settings,
    maxLength: Number.MAX_SAFE_INTEGER,
    rules: rules.map(byLine),
    policy: policy.map(byLine),
  })
  const isClean = (text: string, before: string, meter: WorkMeter | undefined): boolean => {
    if (text === '') return true
    const guarded = together.guard(text, before, meter)
    return guarded.text === text && !guarded.isWithheld && guarded.findings.length === 0
  }

  return (texts, { spoken, voices, lines }, said, meter) =>
    texts.every(({ text }) => text.length <= maxLength) &&
    isClean(spoken, said.all, meter) &&
    (lines === spoken || isClean(lines, '', meter)) &&
    [...voices].every(([voice, words]) => {
      const own = said.voices.get(voice)
      return own === undefined || (own === said.all && words === spoken) || isClean(words, own, meter)
    })
}

/** A text is a line, and so begins and ends as one. */
const byLine = <Rule extends { readonly pattern: string }>(rule: Rule): Rule => ({
  ...rule,
  pattern: `(?m)${rule.pattern}`,
})
