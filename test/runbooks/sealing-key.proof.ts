import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { printedBy, type StartedScript, useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'
import { useReceiver, verifies } from '../support/receiver.ts'
import { CHARGE, chargeBody, sign } from '../support/requests.ts'
import type { Shown } from '../support/running-service.ts'
import { useNewBank } from './set-up.ts'
import { runInShell, shellOf } from './shell.ts'

/** The commands of runbooks about the sealing key, run as docs/operations.md has them. */

const start = useCommands()
const receiver = useReceiver()
const bank = useNewBank()
const BANK_SECRET = 'cs_a_secret_of_the_bank'
beforeAll(() => bank.useSecret(BANK_SECRET))

const startIn = (data: string): StartedScript =>
  start(['commands/sandbox.ts', '--port', '0', '--data', data])
const addressOf = (sandbox: StartedScript) => printedBy(sandbox, /^ready (http:\S+)$/m)

const stop = async ({ child, exited }: StartedScript): Promise<void> => {
  child.kill('SIGTERM')
  await exited
}

const createAcme = async (address: string): Promise<string> => {
  const printed = await runInShell({ address }, [
    'echo rs_secret_of_acme | operator provider create --provider acme --name Acme --request-secret -',
    `echo ${BANK_SECRET} | operator bank update --bank GCB --connector http --connector-url ${bank.url()} --connector-secret -`,
    `operator webhook set --provider acme --url ${receiver.url()}`,
  ])
  return /"secret": "(whsec_[^"]+)"/.exec(printed)?.[1] ?? ''
}

const COUNTS = /"resealed": (\d+),\s+"unreadable": (\d+)/g
const countsIn = (printed: string) =>
  [...printed.matchAll(COUNTS)].map(([, resealed, unreadable]) => [
    Number(resealed),
    Number(unreadable),
  ])

const charge = async (address: string): Promise<Shown> => {
  const reply = await fetch(`${address}${CHARGE}`, {
    method: 'POST',
    headers: { Authorization: 'Bearer sk_sandbox_demo', 'Content-Type': 'application/json' },
    body: JSON.stringify(chargeBody()),
  })
  return ((await reply.json()) as Shown).data
}

/** Checks a signed request, a signed ping to a webhook, and a submission whose signature the bank accepts. */
const expectToWork = async (address: string, secret: string): Promise<void> => {
  const path = '/api/v1/payment-providers/banks'
  const headers = { Authorization: 'Bearer sk_sandbox_signed', ...sign({ path }) }
  expect((await fetch(`${address}${path}`, { headers })).status).toBe(200)
  const pinged = await runInShell({ address }, ['operator webhook ping --provider acme'])
  expect(JSON.parse(pinged)).toMatchObject({ delivered: true })
  const [ping] = receiver.received.slice(-1)
  expect(ping && verifies(ping, secret)).toBe(true)
  const { response } = await charge(address)
  await eventually(() => expect(bank.submitted).toContain(response.uuid))
}

const NEW_KEY = {
  id: 'f3b0c442-98fc-4c14-9afb-f4c8996fb924',
  text: 'a new key',
  stages: ['AWSCURRENT'],
}

/** Copies the items of a sandbox into another, which has its own key, as a restored table has. */
const restoredFrom = (data: string, secret = [NEW_KEY]): string => {
  const copy = newFolder()
  const items = readFileSync(join(data, 'journal.jsonl'), 'utf8').split('\n')
  const isKey = (line: string) => line.startsWith('{"secret":')
  const lines = [JSON.stringify({ secret }), ...items.filter((line) => !isKey(line))]
  writeFileSync(join(copy, 'journal.jsonl'), lines.join('\n'))
  return copy
}

const ROTATION = shellOf('operations.md#rotate-the-sealing-key')
const COPY = shellOf('restore.md#another-region-or-account')
const RETURN = shellOf('restore.md#passive-region').filter((one) => /secretsmanager/.test(one))

test('the runbook of the rotation moves every secret, and a restart keeps the new version', async () => {
  const data = newFolder()
  const sandbox = startIn(data)
  const address = await addressOf(sandbox)
  const secret = await createAcme(address)
  for (const _ of [1, 2])
    expect(countsIn(await runInShell({ address }, ROTATION))).toEqual([[5, 0]])
  await stop(sandbox)
  await expectToWork(await addressOf(startIn(data)), secret)
}, 120_000)

test('the commands of the recovery copy the key to another Region, where every secret opens', async () => {
  const data = newFolder()
  const sandbox = startIn(data)
  const address = await addressOf(sandbox)
  const secret = await createAcme(address)
  // The disaster interrupts a rotation before its reseal.
  await runInShell({ address }, ROTATION.slice(0, ROTATION.indexOf('operator secret reseal')))
  await stop(sandbox)
  const restored = await addressOf(startIn(restoredFrom(data)))
  const reseal = ['operator secret reseal']
  expect(countsIn(await runInShell({ address: restored }, reseal))).toEqual([[0, 5]])
  const replica = await addressOf(startIn(data))
  await runInShell({ address: restored, replica }, COPY)
  expect(countsIn(await runInShell({ address: restored }, reseal))).toEqual([[5, 0]])
  await expectToWork(restored, secret)
}, 120_000)

test('the commands of the return from a failover copy a key that was rotated there, and keep the own version', async () => {
  const data = newFolder()
  const passive = startIn(data)
  const address = await addressOf(passive)
  const secret = await createAcme(address)
  const read = 'aws secretsmanager get-secret-value --secret-id sealing-key'
  const { VersionId: id, SecretString: text } = JSON.parse(await runInShell({ address }, [read]))
  expect(countsIn(await runInShell({ address }, ROTATION))).toEqual([[5, 0]])
  await stop(passive)
  const own = restoredFrom(data, [{ ...NEW_KEY, id, text }])
  const reseal = ['operator secret reseal']
  const without = startIn(own)
  const before = { address: await addressOf(without) }
  expect(countsIn(await runInShell(before, reseal))).toEqual([[0, 5]])
  await stop(without)
  const returned = await addressOf(startIn(own))
  const replica = await addressOf(startIn(data))
  await runInShell({ address: returned, replica }, [...RETURN, ...COPY])
  expect(countsIn(await runInShell({ address: returned }, reseal))).toEqual([[5, 0]])
  await expectToWork(returned, secret)
  // Backups need the version of the time before the failover, also after the next rotation.
  expect(countsIn(await runInShell({ address: returned }, ROTATION))).toEqual([[5, 0]])
  const kept = await runInShell({ address: returned }, [`${read} --version-id ${id}`])
  expect(JSON.parse(kept)).toMatchObject({ SecretString: text })
}, 120_000)

test('the runbook of unreadable secrets replaces each of them', async () => {
  const data = newFolder()
  const sandbox = startIn(data)
  await createAcme(await addressOf(sandbox))
  await stop(sandbox)
  const address = await addressOf(startIn(restoredFrom(data)))
  const commands = shellOf('operations.md#a-secret-cannot-be-opened')
  const files = { 'secret.txt': `${BANK_SECRET}\n` }
  const printed = await runInShell({ address, files }, [
    'echo rs_sandbox_signed | operator provider update --provider signed --request-secret -',
    ...commands,
  ])
  expect(countsIn(printed)).toEqual([
    [1, 4],
    [5, 0],
  ])
  const secret = /"secret": "(whsec_[^"]+)"/.exec(printed)?.[1] ?? ''
  await expectToWork(address, secret)
}, 120_000)
