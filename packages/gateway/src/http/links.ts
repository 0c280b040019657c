import type { Context } from 'hono'
import { bearerOf, deny, isDenial } from '../host/connection-gate.js'
import { type HttpOptions, readConnectRequest } from './options.js'
import { denied } from './problem.js'

/** `POST /spaces/{space}/links`: a code that stands for the token of whoever asks, once and for a minute [MEUP-11.13]. */
export async function postLink(context: Context, options: HttpOptions): Promise<Response> {
  const link = await options.gateway.link(readConnectRequest(context, options))
  if (isDenial(link)) return denied(link)
  const { code, expiresAt } = link
  return context.json({ code, expiresAt: new Date(expiresAt).toISOString() }, 201)
}

/** `POST /links/exchange`: the token that a code stands for. The code comes in the header that a token would come in. */
export async function postExchange(context: Context, options: HttpOptions): Promise<Response> {
  const code = bearerOf(context.req.header('authorization'))
  if (code === undefined) {
    return denied(deny('unauthorized', 401, 'a code is required; send it as Authorization: Bearer <code>'))
  }
  const link = await options.gateway.exchange(code, options.remoteOf(context), () => options.letIn(context))
  if (isDenial(link)) return denied(link)
  const { space, participant, token } = link
  return context.json({ space, participant, token })
}

/** `GET /spaces`: those that a token opens, or that let guests in [MEUP-11.14]. */
export async function getSpaces(context: Context, options: HttpOptions): Promise<Response> {
  const spaces = await options.gateway.openedBy(readConnectRequest(context, options))
  return isDenial(spaces) ? denied(spaces) : context.json({ spaces })
}
