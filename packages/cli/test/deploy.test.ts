import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { gatewayRoutes } from '../../gateway/src/http/routes.js'
import { addRunCommands } from '../src/commands/operator.js'
import { loadConfig } from '../src/config/load.js'
import { logPath } from '../src/config/storage.js'

/** The Dockerfile's instructions, by stage. */
const stages = readText('deploy/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split(/^(?=FROM )/m)
  .map((stage) => stage.trim().split('\n'))
const [images = [], build = [], image = []] = stages

/** Arguments of the last instruction with this name in the final stage. */
const ofImage = (name: string): string =>
  image.findLast((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? ''

const placeholder = (name: string): string => `\${${name}}`

const scripts = JSON.parse(readText('package.json')).scripts as Record<string, string>

describe('the Dockerfile', () => {
  test('builds in one stage and runs in another, which has no compiler', () => {
    expect(stages).toHaveLength(3)
    // Both images need the same Debian release: native modules compiled in one are loaded in the other.
    expect(images).toEqual(['ARG BUILD_IMAGE=node:22-bookworm', 'ARG IMAGE=node:22-bookworm-slim'])
    expect([build[0], image[0]]).toEqual([
      `FROM ${placeholder('BUILD_IMAGE')} AS build`,
      `FROM ${placeholder('IMAGE')}`,
    ])
    expect(image.filter((line) => /apt-get|npm |pnpm/.test(line))).toEqual([])
    expect(ofImage('COPY')).toBe('--from=build /meup /meup')
  })

  test('installs only what the lock file has, with the pnpm of the repository', () => {
    const run = build.filter((line) => line.startsWith('RUN ')).join('\n')
    const { packageManager } = JSON.parse(readText('package.json')) as { packageManager: string }
    expect([...new Set(run.match(/pnpm@[\d.]+/g))]).toEqual([packageManager])
    expect(run).toContain('install --frozen-lockfile')
    expect(run).toMatch(/ deploy \/meup$/)
    expect(run).not.toMatch(/\bnpm install\b/)
    expect(Object.keys(scripts)).toContain('build')
  })

  test('runs as a user without rights, who may write where volumes are', () => {
    expect(ofImage('USER')).toBe('node')
    expect(image.findIndex((line) => line.startsWith('USER'))).toBeGreaterThan(
      image.findIndex((line) => line.startsWith('RUN')),
    )
    expect(ofImage('RUN')).toMatch(
      /^ln -s \/meup\/bin\/meup\.js \S+ .* chown -R node:node \/space \/replica$/,
    )
  })

  test('starts meup with options that it knows, on the port that it exposes', () => {
    expect(JSON.parse(ofImage('ENTRYPOINT'))).toEqual(['meup'])
    const program = new Command('meup')
    addRunCommands(program)
    const [name = '', ...flags] = JSON.parse(ofImage('CMD')) as string[]
    const command = program.commands.find((each) => each.name() === name)
    const { unknown } = command?.parseOptions(flags) ?? { unknown: ['command'] }
    expect(unknown).toEqual([])
    expect(command?.opts()).toMatchObject({ json: true, listen: `0.0.0.0:${ofImage('EXPOSE')}` })
  })

  test('asks a route of the gateway whether it is ready', () => {
    const [, port, path] = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(ofImage('HEALTHCHECK')) ?? []
    expect(port).toBe(ofImage('EXPOSE'))
    expect(gatewayRoutes.routes.map((route) => route.path)).toContain(path)
  })

  test('does not copy what is built, or secret, on this machine', () => {
    const left = readText('.dockerignore').trimEnd().split('\n')
    expect(left).toEqual(expect.arrayContaining(['.git', '**/node_modules', '**/dist', '**/.meup', 'packs']))
  })
})

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly volumes: readonly string[]
  readonly ports?: readonly string[]
}

const deploy = join(repositoryRoot, 'deploy')
const compose = parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
}
const services = Object.entries(compose.services)
const gateways = services.filter(([name]) => name.startsWith('gateway-'))

describe('the compose file', () => {
  test.for(services)('%s names files that are there', ([, { build: image, volumes }]) => {
    const files = volumes.map((each) => each.split(':')[0] ?? '').filter((name) => name.startsWith('.'))
    if (image !== undefined) files.push(join(image.context, image.dockerfile))
    expect(files.filter((name) => !existsSync(join(deploy, name)))).toEqual([])
  })

  test.for(gateways)('%s has volumes where its log and its tokens are', ([, { volumes }]) => {
    const mounts = volumes.map((each) => each.split(':')[1])
    const replica = dirname(logPath(loadConfig(join(deploy, 'space.yaml')).storage) ?? '')
    expect(mounts).toEqual(expect.arrayContaining(['/space/space.yaml', '/space/.meup/tokens', replica]))
    const made = ofImage('RUN')
    expect(mounts.filter((mount) => !mount?.endsWith('.yaml') && !made.includes(mount ?? ''))).toEqual([])
  })

  test('the balancer sends to the port of the image', () => {
    const servers = readText('deploy/haproxy.cfg').matchAll(/^ {2}server \S+ (\S+)$/gm)
    expect([...servers].map(([, address]) => address)).toEqual(
      gateways.map(([name]) => `${name}:${ofImage('EXPOSE')}`),
    )
  })
})
