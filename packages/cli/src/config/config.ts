import type { SpaceConfig } from '@meup/gateway'

/** What `space.yaml` says, with defaults filled in and paths made absolute. */
export interface Config {
  /** Absolute path of the file. */
  readonly file: string
  /** The file's folder: programs run in it, and `.meup` lies in it. */
  readonly directory: string
  readonly gateway: GatewaySettings
  readonly storage: StorageSettings
  readonly auth: AuthSettings
  readonly spaces: readonly SpaceEntry[]
  /** Whether the file says `spaces`, not `space`: then their tokens lie in a folder each. */
  readonly several: boolean
}

export interface GatewaySettings {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly origins: readonly string[]
  readonly trustProxy: boolean
}

export type StorageSettings =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string; readonly durability: 'process' | 'power' }
  | JetStreamSettings

/** The log is shared by several machines; `path` is this one's replica of it. */
interface JetStreamSettings {
  readonly kind: 'jetstream'
  readonly servers: readonly string[]
  readonly replicas: number
  /** Path of a file of NATS credentials; absent = the servers ask for none. */
  readonly credentials?: string
  readonly path: string
}

export interface AuthSettings {
  /** Tokens of an issuer are taken beside those of the files. */
  readonly jwt?: {
    readonly issuer: string
    readonly audience: string
    /** Address of its public keys, or the absolute path of a file. */
    readonly jwks: string
  }
}

export interface SpaceEntry {
  readonly config: SpaceConfig
  /** What is to be run, by the participant that it is. */
  readonly programs: Readonly<Record<string, Program>>
}

export type Program = McpProgram | RemoteProgram | ProcessProgram

interface Command {
  /** A name to be looked up in PATH, or an absolute path. */
  readonly command: string
  readonly args: readonly string[]
  /** On top of the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

/** An MCP server over stdio. */
export interface McpProgram extends Command {
  readonly kind: 'mcp'
}

/** An MCP server elsewhere, over HTTP. */
export interface RemoteProgram {
  readonly kind: 'mcp'
  readonly url: string
  /** Sent with each request; they may hold secrets. */
  readonly headers: Readonly<Record<string, string>>
}

/** A program that joins the space by itself. */
export interface ProcessProgram extends Command {
  readonly kind: 'process'
  readonly restart: 'never' | 'on-failure' | 'always'
  /** Whether `meup up` starts it again when its files change. */
  readonly watch: boolean
}
