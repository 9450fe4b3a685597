import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../sandbox/local-server.ts'
import { startDynamoDbLocal } from '../../../sandbox/localstack/dynamodb-local.ts'
import { expectOneLine, runScript } from '../../support/commands.ts'
import { newFolder } from '../../support/folders.ts'
import { whileListening } from '../../support/servers.ts'

let folder = ''
beforeEach(() => {
  folder = newFolder()
})

describe.each(['commands/sandbox-localstack.ts', 'proofs/stacks/deploy.ts'])(
  'the prerequisites of %s',
  (script) => {
    /** Runs the command with a PATH that contains only the given programs. */
    const runWith = (...programs: readonly string[]) => {
      for (const name of programs) symlinkSync('/bin/true', join(folder, name))
      return runScript([script], { PATH: folder, HOME: folder })
    }

    test('the command names a missing Java in one line', async () => {
      expectOneLine(await runWith(), 'Java is missing')
    })

    test('the command names a missing Python in one line', async () => {
      const line = 'Python 3.12 or 3.13 with venv is required on the PATH'
      expectOneLine(await runWith('java', 'python3'), line)
    })

    test('the command names an AWS_ENDPOINT_URL at which no LocalStack answers in one line', async () => {
      const startAt = (AWS_ENDPOINT_URL: string) =>
        runScript([script], { PATH: folder, HOME: folder, AWS_ENDPOINT_URL })
      const unused = `http://127.0.0.1:${await freePort()}`
      expectOneLine(await startAt(unused), `LocalStack does not answer at ${unused}: ECONNREFUSED`)
      expectOneLine(
        await startAt('localstack:4566'),
        'AWS_ENDPOINT_URL is not a URL like http://127.0.0.1:4566: localstack:4566',
      )
      const server = createServer((_, response) => response.writeHead(404).end('<p>Not here</p>'))
      await whileListening(server, async (port) => {
        const address = `http://127.0.0.1:${port}`
        expectOneLine(await startAt(address), `LocalStack does not answer at ${address}: 404`)
      })
    })
  },
)

test('a start of DynamoDB Local that fails has the reason, which Java prints', async () => {
  const java = join(folder, 'java')
  writeFileSync(java, '#!/bin/sh\n[ "$1" = -version ] || { echo "no memory" >&2; exit 1; }\n')
  chmodSync(java, 0o755)
  vi.stubEnv('PATH', folder)
  await expect(startDynamoDbLocal()).rejects.toThrow('DynamoDB Local did not start: no memory')
})
