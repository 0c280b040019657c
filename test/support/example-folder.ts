import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './cli.js'
import { repositoryRoot } from './files.js'

/** Copies `examples/deploy-review`, with this port; 0 = any free one. */
export function copyDeployReview(port = 0): string {
  const example = join(repositoryRoot, 'examples/deploy-review')
  const config = readFileSync(join(example, 'space.yaml'), 'utf8').replace(
    '127.0.0.1:8080',
    `127.0.0.1:${port}`,
  )
  const folder = temporaryFolder({ 'space.yaml': config })
  for (const name of ['dist', 'repo', 'package.json'])
    cpSync(join(example, name), join(folder, name), { recursive: true })
  symlinkSync(join(example, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
