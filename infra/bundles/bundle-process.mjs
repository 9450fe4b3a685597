import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

/**
 * Runs one bundle as Lambda's runtime does: `node bundle-process.mjs FILE [DESCRIPTOR]`. Each line of
 * standard input is `{id, event, context, timeoutSeconds}`; each line written to DESCRIPTOR (3) is
 * `{id, value}` or `{id, error: {errorType, errorMessage}}`, after a first `{ready: true}`. Ends with
 * its input.
 */

const replies = createWriteStream('', { fd: Number(process.argv[3] ?? 3) })
const reply = (message) => replies.write(`${JSON.stringify(message)}\n`)

// Node itself would also print the source line of the error, which is most of a minified file.
process.on('uncaughtException', (thrown) => {
  const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown))
  const frames = stack.split('\n').flatMap((line) => (/^ {4}at /.test(line) ? [line.trim()] : []))
  const error = { name, message, stack: frames }
  process.stderr.write(`${JSON.stringify({ level: 'ERROR', message: 'fault', error })}\n`)
  process.exit(1)
})

const { handler } = await import(pathToFileURL(process.argv[2] ?? '').href)
reply({ ready: true })

const run = async ({ event, context, timeoutSeconds }) => {
  const deadline = Date.now() + timeoutSeconds * 1000
  const getRemainingTimeInMillis = () => Math.max(0, deadline - Date.now())
  const timeout = Promise.withResolvers()
  const timer = setTimeout(() => {
    const message = `Task timed out after ${timeoutSeconds} seconds`
    timeout.reject(Object.assign(new Error(message), { name: 'Sandbox.Timedout' }))
  }, timeoutSeconds * 1000)
  try {
    const value = handler(event, { ...context, getRemainingTimeInMillis })
    return { value: (await Promise.race([value, timeout.promise])) ?? null }
  } catch ({ name, message }) {
    return { error: { errorType: name, errorMessage: message } }
  } finally {
    clearTimeout(timer)
  }
}

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { id, ...invocation } = JSON.parse(line)
    reply({ id, ...(await run(invocation)) })
  })
  .on('close', () => process.exit())
