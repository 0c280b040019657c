import { defaultLimits } from './limits.js'

const segment = /^[A-Za-z0-9_-]{1,64}$/

/** The segments of a context; `undefined` = invalid path [MEUP-2.1]. */
export function parseContext(
  path: string,
  limits: { contextDepth: number; contextLength: number } = defaultLimits,
): string[] | undefined {
  if (path.length > limits.contextLength) return undefined
  const segments = path.split('/')
  if (segments.length > limits.contextDepth) return undefined
  return segments.every((part) => segment.test(part)) ? segments : undefined
}

/** `a` of `a/b/c`: the id of the start of the run, if one opened it. */
export function contextRoot(path: string): string {
  const slash = path.indexOf('/')
  return slash === -1 ? path : path.slice(0, slash)
}

/** `a/b` of `a/b/c`; `undefined` at the root. */
export function contextParent(path: string): string | undefined {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? undefined : path.slice(0, slash)
}

/** 1 for the root. */
export function contextDepth(path: string): number {
  return path.split('/').length
}

/** Whether `path` is below `ancestor`; a path is not its own ancestor. */
export function isContextAncestor(ancestor: string, path: string): boolean {
  return path.length > ancestor.length && path.startsWith(ancestor) && path[ancestor.length] === '/'
}

/** Joins segments and paths, omitting absent ones. */
export function joinContext(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('/')
}

/** The context that a `reasoning.start` opens when its own context is open or absent [MEUP-2.2]. */
export function openedContext(start: { readonly id: string; readonly context?: string }): string {
  return joinContext(start.context, start.id)
}
