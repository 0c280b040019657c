// Checks the Node version before anything is imported that an old Node cannot load. Same minimum as `engines`
// in package.json.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `meup needs Node 20.19 or newer, and this is ${process.versions.node}; install a newer one from https://nodejs.org, or choose it with nvm`,
  )
  process.exit(1)
}
