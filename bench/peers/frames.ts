import { Sender } from 'ws'

declare module 'ws' {
  const Sender: {
    frame(
      data: Uint8Array,
      options: { fin: boolean; opcode: number; mask: boolean; readOnly: boolean; rsv1: boolean },
    ): Uint8Array[]
  }
}

const options = { fin: true, opcode: 1, mask: false, readOnly: true, rsv1: false }

/** Encodes a text frame, in pieces that must be written one after another. */
export const frameOf = (data: Uint8Array): Uint8Array[] => Sender.frame(data, options)
