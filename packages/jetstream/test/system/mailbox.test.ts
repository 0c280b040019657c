import type { Logger } from '@meup/gateway'
import { connect } from '@nats-io/transport-node'
import { expect, onTestFinished, test } from 'vitest'
import type { Nats } from '../../src/connect.js'
import { Mailbox } from '../../src/mailbox.js'
import { openNats, withNats } from '../nats.js'

const silent: Logger = { info() {}, warn() {}, error() {} }

test(
  'notes to all gateways and requests to one are handled in the order in which they were sent',
  withNats(async () => {
    const { nats } = await openNats()
    const open = async (): Promise<Mailbox> => {
      const connection = await connect({ servers: [...nats.servers] })
      onTestFinished(() => connection.close())
      return new Mailbox({ connection, logger: silent } as Partial<Nats> as Nats)
    }
    const [sender, receiver] = [await open(), await open()]
    const handled: unknown[] = []
    const note = ({ head }: { head: Readonly<Record<string, unknown>> }): void => {
      if (head.do !== 'ready') handled.push(head.n)
    }
    receiver.listen('test', {
      onNote: note,
      onRequest: (request) => {
        note(request)
        return {}
      },
    })
    const ask = (n: number) => sender.ask(receiver.self, 'test', { head: { do: 'emit', n } })
    await expect.poll(() => sender.isAlive(receiver.self)).toBe(true)
    await sender.ask(receiver.self, 'test', { head: { do: 'ready' } })
    const answers: Promise<unknown>[] = []
    // Written in one turn, so that they arrive together.
    for (let n = 0; n < 100; n++) {
      if (n % 5 === 4) answers.push(ask(n))
      else sender.notify('all', 'test', { head: { do: 'present', n } })
    }
    await Promise.all(answers)
    expect(handled).toEqual(Array.from({ length: 100 }, (_, n) => n))
  }),
)
