import { lengthOf, type Message, putText } from '../core/delivery/outbound-batch.js'

/** FIN and the opcode of text (RFC 6455, section 5.2); the gateway masks nothing. */
const wholeText = 0x81
const [twoBytes, eightBytes] = [126, 127]
const [mostInOne, mostInTwo] = [125, 0xffff]

/** Text frames one after another, as one buffer: written once, however many sockets it goes to [MEUP-8.4]. */
export function framesOf(messages: readonly Message[]): Uint8Array {
  let size = 0
  for (const message of messages) size += framed(lengthOf(message))
  const wire = Buffer.allocUnsafe(size)
  let at = 0
  for (const message of messages) at = put(message, wire, at)
  return wire
}

const framed = (length: number): number => length + (length <= mostInOne ? 2 : length <= mostInTwo ? 4 : 10)

function put(message: Message, wire: Buffer, start: number): number {
  const length = lengthOf(message)
  let at = start
  wire[at++] = wholeText
  if (length <= mostInOne) {
    wire[at++] = length
  } else if (length <= mostInTwo) {
    wire[at++] = twoBytes
    at = wire.writeUInt16BE(length, at)
  } else {
    wire[at++] = eightBytes
    at = wire.writeBigUInt64BE(BigInt(length), at)
  }
  putText(message, wire, at)
  return at + length
}
