import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, inject, test } from 'vitest'

/** DynamoDB Local takes any credential, so it serves this machine alone. */

const port = (): number => Number(new URL(inject('dynamoDbEndpoint')).port)

const others = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, scopeid }) => !internal && !scopeid)
  .map(({ address }) => address)

test('it listens on no other address of the machine', async () => {
  for (const host of others) {
    const socket = connect(port(), host)
    const ending = await Promise.race([
      once(socket, 'connect').then(() => 'connected'),
      once(socket, 'error').then(([error]) => error.code),
    ]).catch((error: NodeJS.ErrnoException) => error.code)
    socket.destroy()
    expect(ending, host).toBe('ECONNREFUSED')
  }
})

test.each([
  [{}, 400],
  [{ Host: 'localhost' }, 400],
  [{ Origin: 'http://localhost:3000' }, 400],
  [{ Host: 'evil.example' }, 403],
  [{ Host: '127.0.0.1.evil.example' }, 403],
  [{ Origin: 'https://evil.example' }, 403],
  [{ Origin: 'null' }, 403],
])('a request with %j is answered with %i', async (headers, status) => {
  const asked = request({ host: '127.0.0.1', port: port(), method: 'POST', headers }).end('{}')
  const [response] = await once(asked, 'response')
  response.resume()
  expect(response.statusCode).toBe(status)
})
