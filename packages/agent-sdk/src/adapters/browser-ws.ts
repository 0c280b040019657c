import { SUBPROTOCOL } from '@meup/protocol'
import { unreachableError } from '../client/errors.js'
import { type Dial, socketUrl } from '../client/transport.js'

/** Methods of the browser's WebSocket that are used here. */
interface NativeSocket {
  send(text: string): void
  close(code: number, reason: string): void
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string; wasClean: boolean }) => void) | null
}
declare const WebSocket: new (url: string, protocols: string[]) => NativeSocket

/**
 * Connects with the browser's WebSocket. It cannot set headers, so the token is sent as a second subprotocol [MEUP-5.1], and it
 * hides pings, so the gateway is asked for ticks [MEUP-5.18].
 */
export const dialBrowser: Dial = (request, events, signal) =>
  new Promise((resolve, reject) => {
    const protocols = request.token === undefined ? [SUBPROTOCOL] : [SUBPROTOCOL, `bearer.${request.token}`]
    const socket = new WebSocket(socketUrl(request, 1), protocols)
    const abort = (): void => socket.close(1000, '')
    signal?.addEventListener('abort', abort)
    let opened = false
    let frames = 0
    socket.onopen = () => {
      opened = true
      signal?.removeEventListener('abort', abort)
      resolve({
        send: (text) => socket.send(text),
        close: (code, reason) => socket.close(code, reason),
        received: () => frames,
        countsFrames: true,
      })
    }
    socket.onmessage = ({ data }) => {
      frames++
      events.message(String(data))
    }
    socket.onclose = ({ code, reason }) => {
      if (opened) events.close(code, reason)
      else reject(unreachableError(request.url, 'the address or the token is wrong'))
    }
  })
