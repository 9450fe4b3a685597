import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { bankServer } from '../../sdk/typescript/src/bank-server.ts'
import { runScript } from '../support/commands.ts'
import { whileListening } from '../support/servers.ts'

/** The command `debit bank-check`; test/sdk/bank-check.test.ts tests its cases. */

const secret = 'cs_secret_of_the_bank'
const check = (...words: string[]) => runScript(['commands/bank-check.ts', ...words])

const bank = bankServer({
  secret,
  onSubmission: ({ amount }) =>
    amount === '10000.00'
      ? ({ status: 'accepted' } as never)
      : { status: 'accepted', bankReference: 'B-1' },
  onError: () => undefined,
})

test('`bank-check` prints a line for each case and exits with 1 if one fails', async () => {
  await whileListening(createServer(bank.node), async (port) => {
    const url = `http://127.0.0.1:${port}/debits`
    const failed = await check('--url', url, '--secret', secret, '--skip', 'refunds')
    expect(failed).toMatchObject({ code: 1, stderr: '' })
    const lines = failed.stdout.trimEnd().split('\n')
    expect(lines.filter((line) => !/^ok [a-z-]+$/.test(line))).toEqual([
      expect.stringMatching(/^FAIL submission-amounts: expected accepted, .+, got HTTP 500 /),
    ])
    expect(lines).toContain('ok payout-repeat')
    expect(failed.stdout).not.toContain('refund')
    const account = ['--account', '1041001001']
    expect((await check(url, '--secret', `${secret}x`, ...account)).code).toBe(1)
  })
})

test('`bank-check` exits with 0 if all cases pass', async () => {
  const conforming = bankServer({
    secret,
    onSubmission: () => ({ status: 'rejected', code: 'invalid_account', message: 'No' }),
  })
  await whileListening(createServer(conforming.node), async (port) => {
    const { code, stdout } = await check(`http://127.0.0.1:${port}`, '--secret', secret)
    expect({ code, failed: stdout.match(/^FAIL.*/m) }).toEqual({ code: 0, failed: null })
  })
})
