/**
 * The messages of all refusals: what happened, with the value, then what to do. Senders get them on the wire [MEUP-12.1], HTTP
 * clients as `detail` of problem details. Those of the log are in log/error.ts.
 */
export const texts = {
  // Frames and fields
  unreadableFrame: 'The frame cannot be read: {problem}. Send one JSON object per text frame.',
  unreadableBody:
    'The body cannot be read: {problem}. Post one envelope as a JSON object, or an array of them.',
  incompleteBody: 'The body did not arrive whole. Send the request again.',
  largeBody: 'The body is too large. Post at most {bytes} bytes at once.',
  manyBodies: 'More than {bytes} bytes of bodies are under way. Wait for the answers to other requests.',
  longPost: 'A post may have {envelopes} envelopes. Send the rest in another one.',
  largeEnvelope: 'The envelope has {bytes} bytes. Send at most {limit}.',
  costlyEnvelope:
    'There are too many {what}, so deciding on this costs too much. Send fewer of them in one envelope.',
  otherProtocol: 'This gateway speaks {protocol} alone. Send that, or leave protocol out.',
  invalidField: '{path} {problem}.',
  invalidPattern: '{path} {problem}',
  reservedKind: '{kind} is sent by the gateway alone. Choose another kind.',
  unknownKind: '{namespace} is a reserved namespace without {kind}. Use a namespace of your own.',
  missingField: '{kind} needs {field}. Add it.',
  needlessField: '{kind} has no {field}. Leave it out.',
  manyEnvelopes: '{kind} is about one envelope. Send another for each.',
  invalidContext:
    '{path} is not a legal context. Use at most {depth} segments of A-Z a-z 0-9 _ - and {length} characters.',
  fieldOfGateway: '{path} is set by the gateway. Leave it out.',
  pastTime: '{path} is not in the future. Give a time after {now}.',
  unknownParticipant: 'There is no participant {id} in this space. Check the name.',
  excludedMention: '{id} is mentioned, and may not read it. Add it to `to`, or leave the mention out.',

  // Identity
  otherSender: 'This connection is {participant}. Leave from out: the gateway sets it.',
  replacedProgram: 'Another program has joined as {participant}. Stop this one.',
  contextId: '{id} is a context already. Use a fresh id.',
  takenId: '{id} is the id of another envelope. Use a fresh id.',
  socketOnly: 'A request ends before an answer does. Send {kind} over a socket.',

  // Rates and pauses
  overRate: 'Over the rate for {rateClass}. Send again in {ms} ms.',
  owedFrames: 'Over the rate for frames: too much was refused or repeated. Ask again in {ms} ms.',
  tooMany: 'Too many {what}. Try again in {ms} ms.',
  hops: '{chats} chats went from agent to agent. Wait until a human speaks, or a tool answers you.',
  paused: '{by} has paused {participant}{reason}. Wait until {end}.',
  kicked: '{by} has kicked you out{reason}. {advice}.',

  // The gateway and its log
  stopped: 'The space takes no envelopes: {reason}. Try again later.',
  unwritableLog: 'The log cannot be written. Try again later.',
  unreadableLog: 'The log cannot be read. Send it again later.',
  failed: 'The gateway failed. Try again, and report it to the operator.',
  silentLeader: 'The gateway that sequences this space does not answer. Send it again later.',
  stopping: 'The gateway is stopping. Try again later.',
  disconnected: 'The client has disconnected. Send the request again.',

  // Contexts and runs
  othersContext: 'Only its owner concludes {context}. Send a reasoning.cancel to ask for its end.',
  closedRun: 'Only its owner reasons in {context}: this space does not let others join in. Use chat.',
  ownContexts: '{owner} has {contexts} contexts open. Conclude or cancel some, then start again.',
  openContexts: '{contexts} contexts are open in this space. Start again when some are closed.',
  guestsContexts: '{contexts} contexts of guests are open in this space. Start again when some are closed.',
  addressedVisibility: 'A run is shown or hidden for all. Leave `to` out.',
  inactiveRun: 'Run not active: {context} is unknown or over. Show or hide a run while it is open.',
  othersRun: 'Only its owner hides or shows {context} without the capability {kind}. Ask the owner.',

  // Capabilities and grants
  missingCapability:
    '"{from}" is not allowed to send "{kind}". Request a grant, or propose it to a participant that may.',
  unknownGrant:
    'No grant {id} is in force: it was revoked or declined, has expired, or never existed. Check the id.',
  othersGrant: '{id} was granted to {recipient}. Only the recipient acknowledges it.',
  revokedByOther:
    'Only {grantor} revokes {id}, or a participant with a configured capability. Ask one of them.',
  nothingToRevoke: '{recipient} has no {what} that {from} may revoke. It may have ended already.',
  ownGrant: '{from} cannot grant itself capabilities. Ask another participant.',
  longList: '{path} has more than {characters} characters. Use globs.',
  beyondOwn: '{from} does not provably hold {capability}. Give what your own capabilities cover.',
  openGrants: '{grants} grants are open in this space already. Revoke some first.',
  ownOpenGrants: '{grants} grants of {from} are open already. Revoke some first.',
  givenText: '{characters} characters of capabilities are granted in this space. Revoke some first.',
  ownGivenText: '{from} has given {characters} characters of capabilities. Revoke some first.',
  manyCapabilities:
    '{to} would hold {capabilities} granted capabilities, at most {maximum}. Revoke some first.',
  costlyCapabilities:
    '{to} would hold too many regular expressions, or too much text. Revoke some grants first.',

  // Invitations, kicks and pauses
  imitatedName: '{id} could be mistaken for {other}. Choose another name.',
  memberAlready: '{id} is already a member of the space. Grant it capabilities instead.',
  openInvitations:
    'This space already has {invitations} open invitations. Wait until some are used or expire.',
  moreCapable: '{id} has more capabilities than {inviter}. Ask a participant with as many to invite it.',
  ownKick: '{id} cannot kick itself. Close the connection to leave.',
  ownPause: '{id} cannot resume itself. Leave it out, or set timeoutSeconds.',

  // Calls and proposals
  unknownRequest: 'No request {id} waits for an answer. Check its id.',
  notAddressed: '{id} was not addressed to {from}. Only its addressees {may}.',
  answeredAlready: '{from} has already answered {id}. Each addressee answers once.',
  callerOnly: '{what} about {id} is for its caller. Address {caller} only.',
  closedProposal:
    'No proposal {id} is open: it was used up or withdrawn, has expired, or never existed. Check the id.',
  othersProposal: 'Only {proposer} withdraws {id}. Send mcp.reject to refuse it.',
  ownProposal: "{id} is {from}'s own proposal. Send mcp.withdraw to take it back.",
  incapableRejection:
    '{from} may not send what {id} proposes, and so cannot refuse it. Leave it to participants that may.',
  rejectedBefore: '{from} has rejected {id}. Leave it to others.',
  otherCall: '{id} proposes another {parts}. Send it as proposed.',
  misplacedOrPropose:
    'orPropose requires an mcp.request with `to` and a JSON-RPC id, and without correlationId. Leave it out.',
  largeProposal: 'The request to approve would have about {bytes} bytes. Propose at most {limit}.',

  // Erasing
  missingErase:
    '"{participant}" is not allowed to erase: it lacks "{capability}", which no glob gives. The operator can list it by its name in space.yaml.',
  invalidErasure:
    'Send the seq of an envelope as seq, and why it is erased as reason, in at most {characters} characters.',
  unknownSeq: 'The log has no envelope {seq}. Check the seq.',
  erasedAlready: 'The envelope {seq} is erased already.',
  inerasable:
    'The envelope {seq} is {kind}, which is part of the state of the space: rights, presence and pauses have to stay.',

  // Tokens and connections
  missingToken: 'A token is required. Send it as Authorization: Bearer <token>.',
  noGuests: 'A token is required: no space here lets guests in. Send it as Authorization: Bearer <token>.',
  guestPost: 'A token is required to post. Guests use a WebSocket.',
  guestLink: 'Guests need no link. Enter without a token.',
  missingCode: 'A code is required. Send it as Authorization: Bearer <code>.',
  invalidToken: 'Invalid token for space "{space}". Ask the operator for a new one.',
  unknownToken: 'Invalid token. Ask the operator for a new one.',
  usedLink: 'This link was opened before, or is older than a minute. Make another one with `meup open`.',
  endedAccess: 'This access was taken away or has ended. Ask for a new token.',
  imitatingToken: 'The name in the token could be taken for {other}. Ask its issuer for another.',
  failedLogins: '{message} This address has failed {failures} times already. Try again in {seconds} s.',
  tokenInUrl: 'A token in the URL is refused: it ends up in logs. Use a header.',
  unknownOrigin: 'The origin {origin} is not allowed. Add it to gateway.origins.',
  unknownHost:
    'The gateway takes no requests for "{host}". Add the name to gateway.hosts, or set gateway.trustProxy behind a proxy.',
  manyConnections: '{account} has {connections} connections already. Close one first.',
  manyRequests: '{account} has {requests} requests in progress. Wait for their answers.',
  fullGateway: 'The gateway has reached its limit of connections. Try again later.',
  crowdedAddress: 'Too many unauthenticated connections from this address. Try again later.',
  missingSubprotocol: 'The subprotocol is missing. Offer {name}.',
  subscription: 'A subscription belongs to a connection. Send it over a socket.',
  socketPath: '{path} is a WebSocket. Connect with a WebSocket client.',

  // Paths and parameters
  invalidUrl: 'The URL is invalid. Use /spaces/<space>/ws.',
  noSocket: 'No WebSocket endpoint at {path}. Use /spaces/<space>/ws.',
  unknownPath: 'There is nothing at {path}. Check the path.',
  otherMethod: '{path} does not take {method}. Use {allowed}.',
  unknownSpace: 'There is no space {space}. Check the name.',
  unknownSchema:
    'There is no schema {file}. Use envelope.json, submission.json, or a kind, such as chat.json.',
  unknownParameter: 'Parameter {name} does not exist here. Use {known}.',
  invalidParameter: '{name} must be {form}, not {value}.',
  invalidSession: 'session is invalid. Use 1 to 64 of A-Z a-z 0-9 _ -.',
  invalidFlag: '{name} is {value}. Use 0 or 1.',
  invalidNumber: '{name} is {value}. Use a whole number from 0 on.',
  missingEpoch: 'after requires an epoch. Send the epoch of the welcome as epoch=.',
  invalidEventId: 'Last-Event-ID must be the id of an event of this stream, not {id}.',
  missingThread: '{name} needs thread_id. Add one, such as {space}/ben.',
  otherThread: 'thread_id must be a thread of this space, {space}/<agent>, not {thread}.',
  markdownOnly: 'A context has no jsonl. Use format=markdown, or leave format out for JSON.',
  chainOnly: 'after needs format=jsonl. Use thread_id and turn for a part of the Markdown.',
  wholeOnly:
    'thread_id, turn and limit need format=markdown. Leave them out for jsonl, which is the whole log.',
  lateAfter: 'The log ends at seq {head}. Use at most that as after.',

  // Reading
  unknownContext: 'There is no context {path} that you may read. Check the path.',
  unknownThread: 'There is no thread {thread}. A thread is {space}/ and one of {agents}.',
  unknownTurn: 'There is no turn {turn} in {thread} that you may read. GET turns lists them.',
  unknownEnvelope: 'There is no envelope {ref} that you may read. Give its id, the beginning of it, or #seq.',
  ambiguousId: '{ref} may be any of {ids}. Give more of the id.',
  prunedEnvelope: 'Envelopes before seq {oldest} were pruned. Ask about a later one.',
  erasedEnvelope:
    'The envelope {ref} was erased. Its record has the eraser and the reason: GET audit/verify lists such records.',
  unreadableTurns: 'Turns cannot be read at present: {reason}. Ask again later.',
  unindexedTurns: 'Turns are indexed up to seq {seq} of {head} so far. Ask again later.',
} as const
