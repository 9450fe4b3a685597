import { createServer, type RequestListener } from 'node:http'
import { Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { InvocationFailure } from '../../commands/functions-client.ts'
import { callerOf, isAllowed, operate } from '../../commands/operator-client.ts'
import { requestSandbox } from '../../commands/sandbox-client.ts'
import { openGateway } from '../../sandbox/gateway.ts'
import { whileListening } from '../support/servers.ts'

/** Each stage name has its own address of the function URL. */
let stages = 0

/** Calls a function of a deployed stage; its URL and the Lambda API are a server on this machine. */
const callAt = <T>(answer: RequestListener, call: (stage: string) => Promise<T>): Promise<T> => {
  const server = createServer((request, response) => {
    if (!request.url?.endsWith('/url')) return answer(request, response)
    response.end(JSON.stringify({ FunctionUrl: `http://${request.headers.host}/` }))
  })
  return whileListening(server, async (port) => {
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', `http://127.0.0.1:${port}`)
    stages += 1
    return call(`stage${stages}`)
  })
}

const list = (stage: string) => operate({ stage }, 'debit', { verb: 'list', options: {} })

const breakConnection: RequestListener = ({ socket }) => socket.destroy()
const breakReply: RequestListener = ({ socket }, response) => {
  response.writeHead(200, { 'content-length': 100 }).write('{', () => socket.destroy())
}

test.each<[string, RequestListener, RegExp]>([
  ['the connection breaks', breakConnection, /the call may have run/],
  ['the connection breaks during the reply', breakReply, /the call may have run/],
  ['the function fails', (_, response) => response.writeHead(502).end(), /function failed/],
  ['Lambda limits calls', (_, response) => response.writeHead(429).end('{}'), /did not run/],
])('a call is sent once if %s', async (_, answer, message) => {
  const visit = vi.fn(answer)
  const failure = await callAt(visit, list).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(InvocationFailure)
  expect(String(failure)).toMatch(message)
  expect(visit).toHaveBeenCalledTimes(1)
})

test.each<[string, RequestListener]>([
  ['its reply', breakConnection],
  ['the end of its reply', breakReply],
])('a call to a sandbox that ends before %s may have run', async (_, answer) => {
  const clock = { method: 'POST', path: '/sandbox/clock' }
  const calls = {
    'manage-debit': (port: number) => operate({ port }, 'debit', { verb: 'list', options: {} }),
    'the sandbox': (port: number) => requestSandbox(port, clock),
  }
  for (const [name, call] of Object.entries(calls)) {
    const message = `The connection to ${name} broke: the call may have run`
    await expect(whileListening<unknown>(createServer(answer), call)).rejects.toThrow(message)
  }
})

test('a call to a sandbox before it is ready says that it is starting', async () => {
  const { address, stop } = await openGateway(0)
  const target = { port: Number(new URL(address).port) }
  const call = operate(target, 'debit', { verb: 'list', options: {} })
  await expect(call).rejects.toThrow(/^The sandbox is starting$/)
  await stop()
})

test('a long call keeps its connection alive by TCP probes', async () => {
  const probes = Promise.withResolvers<unknown>()
  vi.spyOn(Socket.prototype, 'setKeepAlive').mockImplementation(function (this: Socket, ...args) {
    probes.resolve(args)
    return this
  })
  const reply = callAt(async (_, response) => {
    await probes.promise
    response.end('{"result":[]}')
  }, list)
  expect(await reply).toEqual({ result: [] })
  expect(await probes.promise).toEqual([true, 1_000])
})

test('a caller whom AWS denies a noun has no name there', async () => {
  const allowed = { result: { caller: 'arn:aws:iam::123456789012:user/ama' } }
  const callerAt = (status: number, body: object) =>
    callAt(
      (_, response) => response.writeHead(status).end(JSON.stringify(body)),
      (stage) => callerOf(stage, 'debit'),
    )
  expect(await callerAt(200, allowed)).toBe(allowed.result.caller)
  expect(await callerAt(403, {})).toBeUndefined()
})

test('a noun is allowed or denied, and one whose function is throttled or fails is neither', async () => {
  const at = (status: number) =>
    callAt(
      (_, response) => response.writeHead(status).end('{}'),
      (stage) => isAllowed(stage, 'approval'),
    )
  expect([await at(200), await at(403)]).toEqual([true, false])
  await expect(at(429)).rejects.toThrow('AWS limits calls; repeat it')
  await expect(at(502)).rejects.toThrow('the function failed')
})
