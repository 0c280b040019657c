import type { HttpClient } from '@meup/agent-sdk/http'
import { brief, defaultGuard, describe, getUlidSeq, isToolCall, sentence } from '@meup/folds'
import { type AnyEnvelope, type DecisionPayload, Kind, ProtocolError } from '@meup/protocol'
import { UsageError } from '../lib/exit.js'
import { formatLocalTime } from '../lib/times.js'
import { findLatestAnswerer, readRequestedTurns } from '../lib/turns.js'

/** Maximum number of acts (calls, decisions, answers) to choose from, and of search hits examined. */
const [maxActs, maxHits] = [9, 100]
/** Minimum length of an id prefix; shorter words match many ids by chance. */
const minIdChars = 8

const actKinds = [Kind.chat, Kind.mcpRequest, Kind.mcpReject, Kind.systemDecision]

interface ActQuery {
  /** Words that an act contains; empty = any. */
  readonly text: string
  readonly tool?: string
}

interface FindOptions {
  /** Owner of the turn, for a turn number; default: the last agent that answered. */
  readonly thread?: string | undefined
}

/**
 * Finds the acts that a reference means, newest first: the envelope with this id, id prefix, or `#seq`; the outcome of a turn
 * (`3` or `bot turn 3`); or the acts that contain all words. Without a text, the last act. Throws if none matches.
 */
export async function findActs(
  http: HttpClient,
  text: string,
  { thread }: FindOptions = {},
): Promise<readonly AnyEnvelope[]> {
  const ref = text.trim()
  if (/^#\d+$/.test(ref)) return [await http.readEnvelope(ref)]
  const [isTurn, agent = thread, number = ''] = /^(?:(?:@?(\S+)\s+)?turn\s+)?(\d{1,9})$/.exec(ref) ?? []
  if (isTurn !== undefined) return [await readTurnAct(http, agent, number)]
  const named = await findById(http, ref)
  if (named !== undefined) return [named]
  const acts = await searchByWords(http, ref)
  if (acts.length > 0) return acts
  throw ref === '' ? new UsageError('no_acts', {}) : new UsageError('unknown_act', { text: ref })
}

/** The answer of a turn, or otherwise its last step. */
async function readTurnAct(
  http: HttpClient,
  named: string | undefined,
  number: string,
): Promise<AnyEnvelope> {
  const agent = named ?? (await findLatestAnswerer(http))
  if (agent === undefined) throw new UsageError('unnamed_agent', { option: '--thread <agent>' })
  const [turn] = await readRequestedTurns(http, agent, number)
  if (turn?.answer_id !== undefined) return http.readEnvelope(turn.answer_id)
  const pages = http.readAuditPages({ thread: agent, turn: number, limit: 1 })
  const { value } = turn === undefined ? {} : await pages.next()
  const [step] = value?.steps ?? []
  if (step !== undefined) return http.readEnvelope(`#${getUlidSeq(step.id)}`)
  throw new UsageError('unknown_turn', { number, agent })
}

/**
 * Finds an envelope by its id or the beginning of it; `undefined` if there is none, or if the text is so short that it is more
 * likely a word to search for.
 */
async function findById(http: HttpClient, ref: string): Promise<AnyEnvelope | undefined> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(ref)) return undefined
  try {
    const found = await http.readEnvelope(ref)
    return found.id === ref || ref.length >= minIdChars ? found : undefined
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    if (error.code === 'not_found' || ref.length < minIdChars) return undefined
    throw error
  }
}

/** A tool with its owner, as in `files/write_file`; a path with one slash looks the same. */
const qualified = /^[^\s/]+\/[^\s/]+$/

/**
 * Finds acts by words. A word such as `files/write_file` first means calls of that tool: calls do not contain it, because owner
 * and tool are separate fields. Refusals of the tool are found of any owner: the log does not name the owner.
 */
async function searchByWords(http: HttpClient, ref: string): Promise<AnyEnvelope[]> {
  const words = ref.split(/\s+/)
  const tool = words.find((word) => qualified.test(word))
  const others = words.filter((word) => word !== tool).join(' ')
  const called = tool === undefined ? [] : await searchActs(http, { text: others, tool })
  return called.length > 0 ? called : searchActs(http, { text: ref })
}

async function searchActs(http: HttpClient, { text, tool }: ActQuery): Promise<AnyEnvelope[]> {
  const isAny = text === '' && tool === undefined
  const query = { kind: actKinds, limit: isAny ? 1 : maxHits, tool, ...(text !== '' && { text }) }
  const wanted = isAny ? 1 : maxActs
  const acts: AnyEnvelope[] = []
  let looked = 0
  for await (const { hits } of http.search(query)) {
    for (const { id, kind, context } of hits) {
      if (acts.length === wanted || looked++ === maxHits) return acts
      // A chat within a run is not an answer.
      if (kind === Kind.chat && context !== undefined) continue
      const envelope = await http.readEnvelope(id)
      if (isAct(envelope)) acts.push(envelope)
    }
  }
  return acts
}

/** Whether an envelope is an act: a tool call, a decision about one, or an answer. */
function isAct({ kind, correlationId, payload }: AnyEnvelope): boolean {
  if (kind === Kind.chat) return correlationId !== undefined
  if (kind === Kind.systemDecision) return (payload as Partial<DecisionPayload>).decision !== 'review'
  return kind !== Kind.mcpRequest || isToolCall({ ...payload })
}

/** Formats an act (a tool call, a decision about one, or an answer) on one line of the list from which the user chooses. */
export const describeAct = (act: AnyEnvelope): string => {
  const said = brief(sentence(describe(act, defaultGuard)), maxActChars)
  return `${formatLocalTime(Date.parse(act.ts))}  ${said}  #${act.seq}`
}

const maxActChars = 120
