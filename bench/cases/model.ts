import { connect } from '@meup/agent-sdk'
import { serve } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import type { Options } from '../load/options.js'
import { startScript } from '../peers/contenders.js'
import type { ServerProcess } from '../peers/process.js'
import { count, decimals, median, type Section } from '../report/section.js'
import { type Asked, serveTokens, tokensPerSecond, toQuestion } from '../support/token-server.js'
import { result, tools } from '../support/tools.js'

/** A process that calls the model when asked. */
interface Caller {
  readonly process: ServerProcess
  /** Asks a question. Resolves with the complete answer. */
  ask(question: string): Promise<string>
}

/** The cost of one turn: microseconds of processor time, and milliseconds from the question to the answer. */
interface Cost {
  readonly cpu: number
  readonly ms: number
}

interface Measured extends Cost {
  readonly caller: 'bare' | 'agent'
  readonly asked: Asked
}

const nothing = { bare: { cpu: 0, ms: 0 }, agent: { cpu: 0, ms: 0 } }

/** Compares the cost of an agent's model call with that of the bare `ai` package, with the same model and tools. */
export async function model({ rounds, ms, warmMs, smoke }: Options): Promise<Section[]> {
  // Number of tool calls in a turn that measures the cost of a call, and number of turns of each kind in a round.
  const [calls, repeats] = smoke ? [2, 1] : [10, 3]
  const inMs = (each: number): number => Math.ceil((each * tokensPerSecond) / 1000)
  const turn: Asked = { tokens: 1, calls: 0 }
  const long: Asked = { ...turn, tokens: turn.tokens + inMs(ms) }
  const calling: Asked = { ...turn, calls }
  await using stage = await openStage()
  for (const each of [stage.bare, stage.agent])
    for (const asked of [turn, calling, { ...turn, tokens: inMs(warmMs) }]) await measure(each, asked)
  const found: Measured[] = []
  for (let i = 0; i < rounds * repeats; i++)
    for (const asked of [turn, long, calling])
      for (const caller of ['bare', 'agent'] as const)
        found.push({ caller, asked, ...(await measure(stage[caller], asked)) })
  const costOf = (asked: Asked, parts = 1, without = nothing) => {
    const of = (caller: Measured['caller']): Cost => {
      const costs = found.filter((each) => each.caller === caller && each.asked === asked)
      return {
        cpu: (median(costs.map(({ cpu }) => cpu)) - without[caller].cpu) / parts,
        ms: (median(costs.map(({ ms }) => ms)) - without[caller].ms) / parts,
      }
    }
    return { bare: of('bare'), agent: of('agent') }
  }
  const whole = costOf(turn)
  const figures = [
    { what: 'a token', ...costOf(long, long.tokens - turn.tokens, whole) },
    { what: 'a call', ...costOf(calling, calls, whole) },
    { what: 'a turn of one token', ...whole },
  ]
  return [
    {
      id: 'model',
      title: 'What an agent adds to a model',
      about: `A scripted model of ${tokensPerSecond} tokens a second and ${tools.length} tools, called by a bare \`ai\` stream and by an agent in a space, its answer shown live and no transcript kept: processor time of the process in µs, and what the agent adds in ms between the question and the whole answer; medians. A token: of ${long.tokens - 1}. A call: of ${calls} steps with one each, the tool of the agent being another participant’s.`,
      columns: ['', 'bare, µs', 'agent, µs', 'added, µs', 'added, ms'],
      rows: figures.map(({ what, bare, agent }) => [
        what,
        ...[count(bare.cpu), count(agent.cpu), count(agent.cpu - bare.cpu)],
        decimals(agent.ms - bare.ms, 3),
      ]),
      figures,
    },
  ]
}

async function measure({ process, ask }: Caller, asked: Asked): Promise<Cost> {
  const [begin, cpu] = [performance.now(), process.cpu()]
  const answer = await ask(toQuestion(asked))
  const ms = performance.now() - begin
  const words = answer.match(/word\d+/g)?.length
  if (words !== asked.tokens)
    throw new Error(`${asked.tokens} tokens were asked for: ${answer.slice(0, 200)}`)
  return { cpu: 1000 * (process.cpu() - cpu), ms }
}

/**
 * Starts the model, a space with a participant that offers tools, and two processes that call the model: a bare `ai` stream,
 * and an agent of the space.
 */
async function openStage() {
  const { baseURL, close: closeModel } = await serveTokens()
  const human = { kind: 'human', capabilities: ['*'] }
  const gateway = await createTestGateway({ participants: { ana: human, desk: ['*'], bot: ['*'] } })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0 })
  const enter = (id: string) => connect({ url: served.url, space: 'test', token: testToken(id) })
  const [ana, desk] = [await enter('ana'), await enter('desk')]
  for (const { name, ...tool } of tools) desk.tool(name, tool, () => result)
  const own = await startScript('model-caller.ts', [], ['bare', baseURL])
  const seat = [served.url, 'test', testToken('bot')]
  const theirs = await startScript('model-caller.ts', [], ['agent', baseURL, ...seat])
  const bare: Caller = {
    process: own,
    ask: async (question) =>
      (await fetch(`http://127.0.0.1:${own.port}`, { method: 'POST', body: question })).text(),
  }
  const agent: Caller = {
    process: theirs,
    ask: async (question) => (await ana.ask(question, { to: ['bot'] })).text,
  }
  const close = async (): Promise<void> => {
    await Promise.all([own.stop(), theirs.stop()])
    for (const client of [ana, desk]) client.close()
    await served.close()
    closeModel()
  }
  return { bare, agent, [Symbol.asyncDispose]: close }
}
