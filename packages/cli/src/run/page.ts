import { existsSync } from 'node:fs'
import type { Logger, ServeOptions } from '@meup/gateway'
import { pageDirectory } from '@meup/observer'

/** The page for people, where it was built: a gateway does its work without. */
export function findPage(logger: Logger): Pick<ServeOptions, 'page'> {
  if (existsSync(pageDirectory)) return { page: pageDirectory }
  logger.info({}, 'there is no page at /: it was not built; pnpm build does that')
  return {}
}
