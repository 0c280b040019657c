/**
 * Identifiers to avoid, because there are established names: [pattern of the identifier, what to write instead]. `take` and
 * `charge` are right for token buckets, cursors and meters; a handler of envelopes is not named `take`, but `onX`.
 */
export const identifiers: readonly (readonly [pattern: string, instead: string])[] = [
  ['Room|furnish', 'SpaceHost, initialize'],
  ['Seat', 'SpaceClient, Account'],
  ['Knock|Ticket|Approach', 'ConnectRequest, ConnectionGrant, RequestOrigin'],
  ['Door|Doorstep', 'ConnectionGate, PendingConnections'],
  ['Passage|recogni[sz]e|entrust', 'AdmissionContext, deduplicate, deliverInviteToken'],
  ['Parcel|relief', 'OutboundBatch, whenWritable'],
  ['ShortWay|passerBy|Ledger', 'InlineWriter, secondary, ChainWriter'],
  ['Silence|Seldom', 'IdleTimeout, LogThrottle'],
  ['Tally|Readings|Spread', 'SpaceMetrics, the metrics of prom-client'],
  ['payer|isQuits', 'rateLimitKey, isFull'],
  ['insist|Pulse', 'retryUntilLeader, HealthProbe'],
  ['Ahead|Elsewhere|HandedOn', 'WriteBehind, RemoteSequencer, ForwardedFrames'],
  ['upkeep|heed|obey', 'control, onControl, CommandRunner'],
  ['Fleet|beside', 'Supervisor, stderrGuard'],
  ['Sieve|Lens|Desk', 'LogFilter, ViewFilter, useSpace'],
  ['heavy|holdings', 'truncate, grantedCapabilities'],
  ['farewell|expel|vouch', 'kickMessage, closeRevoked, recordMembership'],
  ['glance|utter', 'prescan, publish'],
  ['tell|told', 'notify, announce; what it is: received, turnEvents'],
  ['take(?=\\((?:envelope|message|rows?|entry|record|note)\\b)', 'onEnvelope, onMessage; verb + object'],
  ['most(?:[A-Z]\\w*)?', 'maxPayloadChars: bound + unit'],
  ['patienceMs', 'commitTimeoutMs'],
  ['trouble|orphaned|Denial', 'requestError, leaderLost, Refusal'],
]

/** Phrases of comments and pages: [pattern, what to write instead]. */
export const phrases: readonly (readonly [pattern: string, instead: string])[] = [
  ['what is little', 'the amount'],
  ['of no use', 'ignored, not needed'],
  ['now and then', 'regularly, every n seconds'],
]

/** Riddling phrases of comments, messages and pages, which `test/phrasing.json` counts by file: no count may rise. */
export const riddles: Readonly<Record<string, { readonly pattern: RegExp; readonly instead: string }>> = {
  headless: {
    pattern:
      /^(?:Of|By|With|Each|What|Whom|Whose|Who|Whoever|Where|Wherever|Whatever|Those|Nobody|Somebody|So many)\b/g,
    instead: 'begin with the noun that is meant, or with a verb',
  },
  people: {
    pattern: /\b(?:whoever|whomever|somebody|anybody|nobody|everybody|one who|those who)\b/gi,
    instead: 'name the participant, client or caller; anyone, no one, everyone',
  },
  where: {
    pattern: /\bwhere (?:it|that|there|this|they|one|none|nothing|nobody)\b/gi,
    instead: 'if, when',
  },
  particles: {
    pattern: /\b(?:anew|all the same|beside|meanwhile|so many|goes? on|stands?)\b/gi,
    instead: 'again, nevertheless, besides, in the meantime, this many, continues, is',
  },
  negated: { pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)/gi, instead: 'is not a' },
  told: {
    pattern: /\b(?:told|tells? (?:of|nothing|everything|what|who|how))\b/gi,
    instead: 'shows, reveals, is notified',
  },
}
