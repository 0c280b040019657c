import { type Static, Type } from '@sinclair/typebox'

/** Whether prompts show a commit. `PINNED` also says that whatever shortens them must keep it. */
export const Priority = { PINNED: 'pinned', NORMAL: 'normal', SKIP: 'skip' } as const
export type Priority = (typeof Priority)[keyof typeof Priority]

/** Somebody's word on a commit. */
export const Annotation = Type.Object(
  { priority: Type.Enum(Priority), reason: Type.Optional(Type.String()) },
  { additionalProperties: false },
)
export type Annotation = Static<typeof Annotation>
