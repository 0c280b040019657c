import { agents, type Reading, space } from './gateways.js'

/** Number of requests for each question in a measurement. */
export const rounds = 200

/** The request path for each question. `turns`: number of turns in the log. */
export const questions: Record<string, (round: number, turns: number) => string> = {
  'the latest 20 turns of a thread': (i) => `turns?thread_id=${space}/agent-${i % agents}`,
  '9 turns in the middle of a thread': (i, turns) =>
    `turns?thread_id=${space}/agent-${i % agents}&before=${Math.max(1, Math.floor(turns / agents / 2))}&limit=9`,
  'what happened in one context': (i, turns) => `envelopes?context=run-${some(i, turns)}`,
  'one context and what is nested in it': (i, turns) =>
    `contexts/run-${turns - 1 - (i % Math.min(turns, 500))}`,
  'the latest 100 steps of the audit': () => 'audit?limit=100',
  '100 steps from the middle': (i, turns) => `audit?limit=100&before=${some(i, turns) * 10 + 2}`,
  'the steps of one turn': (i) => `audit?thread_id=${space}/agent-${i % agents}&turn=7`,
  'the latest 20 errors': () => 'audit?limit=20&phase=error',
  'the latest 100 envelopes': () => 'envelopes?limit=100&order=desc',
  'a word that one turn says': (i, turns) => `search?text=${some(i, turns)}.txt`,
  'a word that nobody says': (i) => `search?text=nowhere-${i}`,
  'a word of every turn': () => 'search?text=deployed',
  'why an agent answered so': (i, turns) => `why/e${some(i, turns) * 10 + 10}`,
  'one envelope, by its seq': (i, turns) => `envelopes/${some(i, turns) * 10 + 4}`,
  '100 envelopes from the middle': (i, turns) => `envelopes?limit=100&after=${some(i, turns) * 10}`,
}

const some = (round: number, turns: number): number => Math.floor((turns * (round + 0.5)) / rounds)

/** Sends a request, and returns the complete response. */
export async function ask({ get }: Pick<Reading, 'get'>, path: string, as?: string): Promise<string> {
  const answer = await get(path, as)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text.slice(0, 200)}`)
  return text
}
