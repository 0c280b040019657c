import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import {
  documentedClient,
  installDocumented,
  runAgent,
  runDocumented,
  type StartClient,
} from '../support/client-kit/clients.js'
import { kinds } from '../support/client-kit/index.js'
import type { CaseKind } from '../support/client-kit/kind.js'
import { ScriptedGateway } from '../support/client-kit/scripted-gateway.js'

const folder = mkdtempSync(join(tmpdir(), 'meup-client-'))
installDocumented(folder)
afterAll(() => rmSync(folder, { recursive: true }))

/** Plays every variant of a case, each with its own gateway and client. */
async function play({ variants }: CaseKind, start: StartClient): Promise<void> {
  await Promise.all(
    Object.entries(variants).map(async ([name, act]) => {
      const gateway = await ScriptedGateway.start()
      const running = start(gateway.url)
      try {
        await act({ gateway, running })
      } catch (cause) {
        throw new Error(`${name}: ${(cause as Error).message}`, { cause })
      } finally {
        running.kill()
        await running.ended
        gateway.close()
      }
    }),
  )
}

const timed = kinds.filter(({ random }) => random !== undefined)
const others = kinds.filter(({ random }) => random === undefined)

test('the kit has 37 kinds', () => {
  expect(new Set(kinds.map(({ name }) => name)).size).toBe(37)
})

describe('the client of the documentation', () => {
  test('has at most 220 lines', () => {
    expect(documentedClient().split('\n').length).toBeLessThanOrEqual(220)
  })

  for (const each of timed) test(each.name, () => play(each, runDocumented(folder, each.random)))
  for (const each of others) test.concurrent(each.name, () => play(each, runDocumented(folder)))
})

describe('an agent of the SDK', () => {
  for (const each of timed) {
    test(each.name, async () => {
      const random = vi.spyOn(Math, 'random').mockReturnValue(each.random ?? 0)
      await play(each, runAgent).finally(() => random.mockRestore())
    })
  }
  for (const each of others) test.concurrent(each.name, () => play(each, runAgent))
})
