import type { Receipt, Refusal } from '../../core/admission/context.js'
import type { Sender } from '../../core/sender.js'
import type { Space } from '../../core/space.js'

/** Takes one frame to the pipeline, wherever the space is sequenced. */
export async function accept(
  space: Space,
  sender: Sender,
  frame: Uint8Array,
  isBinary = false,
): Promise<Receipt | Refusal> {
  const { elsewhere } = space
  if (!space.follows || space.stopped !== undefined || !elsewhere?.isFor(frame)) {
    return space.submit(sender, frame, isBinary)
  }
  return elsewhere.submit(sender, frame, isBinary)
}
