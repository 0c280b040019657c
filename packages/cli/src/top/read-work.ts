import type { ContextNode, HttpClient } from '@meup/agent-sdk/http'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { SpaceMonitor, type Work } from './space-monitor.js'

/**
 * Time span and numbers of envelopes to read back from the end of the log: `recent` for rates and last activity, `spent` for
 * tokens.
 */
const recent = { ms: 60_000, min: 200, max: 2000 } as const
const spent = { ms: 3_600_000, min: 0, max: 5000 } as const

/** Reads recent activity from the log. `before`: only envelopes with a lower seq. */
export async function readRecentWork(http: HttpClient, before?: number): Promise<SpaceMonitor> {
  const monitor = new SpaceMonitor()
  const place = before === undefined ? {} : { before }
  const [all, ends] = await Promise.all([
    readBack(http.readLog({ ...place, order: 'desc' }), recent),
    readBack(http.readLog({ ...place, order: 'desc', kind: [Kind.reasoningConclusion] }), spent),
  ])
  for (const envelope of all) monitor.applyActivity(envelope)
  for (const envelope of ends) monitor.applySpend(envelope)
  return monitor
}

/** Reads the latest envelopes; returns them in log order. */
async function readBack(
  log: AsyncIterable<AnyEnvelope>,
  { ms, min, max }: { readonly ms: number; readonly min: number; readonly max: number },
): Promise<AnyEnvelope[]> {
  const first = Date.now() - ms
  const found: AnyEnvelope[] = []
  for await (const envelope of log) {
    if (found.length >= max || (found.length >= min && Date.parse(envelope.ts) < first)) break
    found.push(envelope)
  }
  return found.reverse()
}

/** Participants that wait for a decision on a proposal of theirs. */
export async function readWaiting(http: HttpClient): Promise<ReadonlySet<string>> {
  const { proposals } = await http.readProposals()
  return new Set(proposals.map(({ from }) => from))
}

/** The current activity of all participants. */
export async function readWork(http: HttpClient): Promise<Work[]> {
  const [monitor, { participants }, { contexts }, waiting] = await Promise.all([
    readRecentWork(http),
    http.readParticipants(),
    http.readContexts(),
    readWaiting(http),
  ])
  const open = contexts.filter((each): each is ContextNode => each.state === 'open')
  const thinking = [...new Set(open.map(({ owner }) => owner))].map((agent) => {
    const runs = open.filter(({ owner }) => owner === agent)
    return {
      agent,
      runs: runs.length,
      since: Math.min(...runs.map(({ startedAt }) => Date.parse(startedAt))),
    }
  })
  return monitor.list(participants, { thinking, waiting }, Date.now())
}
