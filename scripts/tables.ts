/**
 * Writes generated files: the tables of the docs, between `<!-- generated: name -->` and `<!-- end -->`, the JSON Schema of
 * space.yaml, and the lowered counts of `test/phrasing.json`. `pnpm lint` runs this after a build; CI fails if the result is
 * not committed.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type KnownAgent, knownAgents } from '@meup/acp/agents'
import { agUi } from '@meup/ag-ui'
import { agentHabits } from '../packages/acp/test/habits.js'
import { describeRows } from '../packages/agent-sdk/test/model/matrix.js'
import { listLeaves } from '../packages/cli/src/command-help.js'
import { getUsage } from '../packages/cli/src/commands/man.js'
import { type FailureRow, failures } from '../packages/cli/src/failure/failures.js'
import { slashCommands } from '../packages/cli/src/join/slash-commands.js'
import { createProgram } from '../packages/cli/src/program.js'
import { metricDefinitions } from '../packages/gateway/src/host/metrics.js'
import { parameters } from '../packages/gateway/src/http/parameters.js'
import type { Route } from '../packages/gateway/src/http/route.js'
import { gatewayRoutes } from '../packages/gateway/src/http/routes.js'
import { clientHabits } from '../packages/mcp-bridge/test/client-habits.js'
import { type Habit, serverHabits } from '../packages/mcp-bridge/test/habits.js'
import { clauseIndex } from '../protocol/scripts/clause-index.js'
import {
  errorTable,
  kindTable,
  limitTable,
  markdownTable,
  rateTable,
} from '../protocol/scripts/spec-tables.js'
import { publicClients } from '../test/servers/clients.js'
import { publicServers } from '../test/servers/servers.js'
import { faults } from '../test/support/chaos/faults.js'
import { lowerPhrasing } from '../test/support/phrasing.js'
import { jsonTable } from './json-table.js'
import { createSpaceSchema } from './space-schema.js'

const code = (text: string): string => `\`${text}\``

const routes: readonly Pick<Route, 'method' | 'path' | 'summary'>[] = [
  ...gatewayRoutes.routes,
  ...agUi.routes,
]

/** Formats placeholders such as `{name}` as code, even within a command that is already code. */
const formatRemedy = (remedy: string): string =>
  remedy
    .split('`')
    .map((part, at) => part.replace(/\{(\w+)\}/g, at % 2 === 0 ? code('<$1>') : '<$1>'))
    .join('`')

/** The table of unusual inputs that a kind of program (`who`) sends, and of how MEUP handles them. */
const habitTable = (who: string, habits: Readonly<Record<string, Habit>>) => (): string =>
  markdownTable(
    [`a ${who} sends`, 'what happens'],
    Object.values(habits).map(({ sends, here }) => [sends, here]),
  )

/** The table of failures in one section: the message, its cause, and the next step. `<name>` is a value. */
const failureTable = (when: FailureRow['when']) => (): string =>
  markdownTable(
    ['message', 'cause', 'what to do'],
    Object.values<FailureRow>(failures)
      .filter((row) => row.when === when)
      .map(({ says, cause, remedy }) => [
        code(says.replace(/\{(\w+)\}/g, '<$1>')),
        cause,
        formatRemedy(remedy),
      ]),
  )

const tables: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'protocol/SPEC.md': {
    kinds: kindTable,
    rates: rateTable,
    limits: limitTable,
    errors: errorTable,
    clauses: clauseIndex,
  },
  'docs/acp.md': {
    agents: () =>
      markdownTable(
        ['`agent:`', 'starts', 'install, log in', 'its tools', 'its ways'],
        Object.entries<KnownAgent>(knownAgents).map(([name, agent]) => [
          code(name),
          code([agent.command, ...agent.args].join(' ')),
          `${code(`npm install -g ${agent.package}`)}, ${agent.login}`,
          agent.tools.map(code).join(' '),
          agent.limits,
        ]),
      ),
  },
  'docs/compatibility.md': {
    models: () =>
      markdownTable(['server or model', 'a call', 'thoughts', 'a refusal', 'an error'], describeRows()),
    servers: habitTable('server', serverHabits),
    clients: habitTable('client', clientHabits),
    agents: habitTable('coding agent', agentHabits),
    tried: () =>
      markdownTable(
        ['package', 'version', 'is a', 'built with'],
        [
          ...Object.values(publicServers).map((server) => [server, 'server'] as const),
          ...Object.values(publicClients).map((client) => [client, 'client'] as const),
        ].map(([{ package: name, version, builtWith }, role]) => [code(name), version, role, builtWith]),
      ),
  },
  'docs/troubleshooting.md': {
    start: failureTable('start'),
    files: failureTable('files'),
    connect: failureTable('connect'),
    agents: failureTable('agents'),
    faults: () =>
      markdownTable(
        ['what happens', 'where `meup up` runs', 'to the asker or caller', 'in the space'],
        faults.map(({ of, happens, operator, asker, space }) => [
          `**${of}**: ${happens}`,
          operator,
          asker,
          space,
        ]),
      ),
  },
  'docs/commands.md': {
    commands: () =>
      markdownTable(
        ['command', 'what it does'],
        listLeaves(createProgram()).map(({ path, command }) => [
          code(getUsage(path, command)),
          command.description(),
        ]),
      ),
    json: jsonTable,
  },
  'docs/terminal.md': {
    commands: () =>
      markdownTable(
        ['command', 'action'],
        Object.values(slashCommands).flatMap((commands) =>
          Object.entries<readonly (readonly [takes: string, about: string])[]>(commands).flatMap(
            ([name, forms]) =>
              forms.map(([takes, about]) => [
                code(`${name} ${takes}`.trimEnd()),
                about.replace(/\S*<\w+>/g, code),
              ]),
          ),
        ),
      ),
  },
  'docs/http.md': {
    routes: () =>
      markdownTable(
        ['route', 'what it gives'],
        routes.map(({ method, path, summary }) => [code(`${method.toUpperCase()} ${path}`), summary]),
      ),
    parameters: () =>
      markdownTable(
        ['parameter', 'takes', 'gives'],
        Object.entries({ ...parameters, ...agUi.routes[0]?.parameters }).map(([name, { takes, meaning }]) => [
          code(name),
          takes,
          meaning,
        ]),
      ),
    metrics: () =>
      markdownTable(
        ['metric', 'type', 'meaning'],
        metricDefinitions.map(({ name, type, help }) => [code(name), type, help]),
      ),
  },
}

for (const [path, generated] of Object.entries(tables)) {
  const file = new URL(`../${path}`, import.meta.url)
  let text = readFileSync(file, 'utf8')
  for (const [name, table] of Object.entries(generated)) {
    const place = new RegExp(`(?<=<!-- generated: ${name} -->\n).*?(?=<!-- end -->)`, 's')
    if (!place.test(text)) throw new Error(`${path} has no place for the table of ${name}`)
    text = text.replace(place, () => `\n${table()}\n\n`)
  }
  writeFileSync(file, text)
}

const schema = new URL('../packages/cli/schema/space.schema.json', import.meta.url)
mkdirSync(new URL('.', schema), { recursive: true })
writeFileSync(schema, `${JSON.stringify(createSpaceSchema(), undefined, 2)}\n`)

lowerPhrasing()
