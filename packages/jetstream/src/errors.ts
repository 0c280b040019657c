/** The texts of errors of logs on NATS: what happened, with the values of `details`, then what to do. */
export const streamTexts = {
  // Streams that were changed by others
  emptyStream:
    'The stream {stream} has no envelopes of {subject}, and there were {known}. Restore it from a copy.',
  shortStream:
    'The stream {stream} ends at envelope {last} of {subject}, and {acknowledged} were acknowledged. Restore it from a copy.',
  missingRows:
    'The stream {stream} has no envelopes {first} to {last} of {subject}. Another program purged it. Restore it from a copy.',
  otherRow:
    'The stream {stream} has another envelope {seq} of {subject} than the replica. Restore it from a copy.',
  otherLog:
    'The stream {stream} has the log {epoch} of {subject}, and the replica another one. Restore it from a copy, or set another storage.path.',
  oldReplica:
    'The stream {stream} begins at {first} of {subject}, and the replica ends at {head}. Remove the file of the replica, and it is made again.',
  damagedSnapshot:
    'The stream {stream} has a damaged snapshot of {subject} at {through}. Restore it from a copy.',
  foreignMessage:
    '{message} is not a batch of a log. Another program wrote to it, or it was damaged. Remove foreign messages from the stream.',
  streamConfig:
    'The stream {stream} is not as needed: {differences}. Change it (nats stream edit), or the configuration (replicas: {replicas}).',

  // Other gateways
  notLeader: 'Another gateway sequences the space {space}. Ask that one.',
  overtaken: 'Another gateway has written to {subject}. This one reads its envelopes before it continues.',
  rewritten: 'Another gateway has erased something of the batch {first}. This one reads it again.',
  handover: 'The space {space} changes hands. It is tried again.',
  contested: 'The space {space} changes hands again and again. Check which gateways run for it.',
  unerased: 'The gateway that sequences the space {space} has not erased {seq} yet. It is tried again.',

  // Servers
  credentials: 'The credentials {path} cannot be used: {reason}. Check storage.credentials.',
  oldServer:
    'The NATS server is version {version}, and this gateway needs {oldest} or newer. Update the servers.',
  noJetStream:
    'The NATS server has no JetStream. Start it with -js, or with `jetstream: enabled` in its file.',
  refused:
    'The NATS server refuses this gateway, {doing}: {reason}. Give it credentials that are valid, and that may use JetStream.',
  account:
    'The account of this gateway may not use JetStream, {doing}: {reason}. Enable JetStream for it (`jetstream: enabled` of an account, or nsc edit account).',
  failed:
    'NATS failed {doing}: {reason}. It is tried again. Check that the NATS servers run, and that most of them reach each other.',
  unreadable: 'The stream {stream} cannot be read from {from} on: {reason}. It is tried again.',
  largeRow:
    'The envelope {id} has {bytes} bytes with its row, and a message {maxBytes} at most. Raise max_payload of the NATS servers.',
} as const
