import { isContextAncestor } from '@meup/protocol'

/** Whether a path is this context, or is below it. */
export const isInside = (context: string, path: string | undefined): boolean =>
  path !== undefined && (path === context || isContextAncestor(context, path))
