import { contextParent } from '@meup/protocol'
import type { Context } from 'hono'
import { participantsIn } from '../core/delivery/introduction.js'
import type { ContextReport } from '../core/state/contexts.js'
import { isDenial } from '../host/connection-gate.js'
import type { Caller } from '../host/gateway.js'
import type { HttpOptions } from './options.js'
import { denied } from './problem.js'
import { shown } from './views.js'
import { askerOf } from './visitor.js'

/** `GET /spaces/{space}/participants`: who belongs to the space, and who is there [MEUP-11.7]. */
export const getParticipants = (context: Context, options: HttpOptions): Promise<Response> =>
  asVisitor(context, options, (visitor) => {
    const { space } = visitor
    const { log, delivered: head, state } = space
    const participants = participantsIn(state, space.clock.now())
    return shown(visitor, { participants, epoch: log.epoch, head })
  })

/** `GET /spaces/{space}/contexts`: the tree of contexts, oldest first [MEUP-11.7]. */
export const getContexts = (context: Context, options: HttpOptions): Promise<Response> =>
  asVisitor(context, options, (visitor) => {
    const { log, delivered: head } = visitor.space
    return shown(visitor, { contexts: treeOf(shownTo(visitor)).roots, epoch: log.epoch, head })
  })

async function asVisitor(
  context: Context,
  options: HttpOptions,
  answer: (visitor: Caller) => Response,
): Promise<Response> {
  const visitor = await askerOf(context, options)
  return isDenial(visitor) ? denied(visitor) : answer(visitor)
}

export const shownTo = ({ space, participant }: Caller, path?: string): ContextReport[] =>
  space.state.contexts.report(space.readerOf({ participant }), path)

interface ContextNode extends ContextReport {
  readonly children: ContextNode[]
}

/** A context comes after the one that it is nested in; one whose parent is not shown stands as a root. */
export function treeOf(contexts: readonly ContextReport[]): {
  readonly roots: ContextNode[]
  readonly byPath: ReadonlyMap<string, ContextNode>
} {
  const roots: ContextNode[] = []
  const byPath = new Map<string, ContextNode>()
  for (const report of contexts) {
    const node = { ...report, children: [] }
    byPath.set(report.context, node)
    const parent = byPath.get(contextParent(report.context) ?? '')
    ;(parent?.children ?? roots).push(node)
  }
  return { roots, byPath }
}
