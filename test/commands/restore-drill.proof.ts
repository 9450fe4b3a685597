import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { printedBy, runScript, useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { useRecordedBooks } from '../support/recorded-books.ts'
import { startDrillEndpoint } from './drill-endpoint.ts'

/** The drill of a restore as a process, against an endpoint of AWS that records every call. */

const books = useRecordedBooks()
const start = useCommands()
let endpoint: Awaited<ReturnType<typeof startDrillEndpoint>>
let items: Awaited<ReturnType<typeof books.record>>['last']['items']

beforeAll(async () => {
  const { last } = await books.record()
  items = last.items
  endpoint = await startDrillEndpoint(last)
})
afterAll(() => endpoint.stop())
beforeEach(() => {
  endpoint.state.calls.length = 0
  Object.assign(endpoint.state, { creating: 2, hasRecovery: true })
})

const words = ['commands/restore-drill.ts', '--stage', 'sandbox']
const drill = (...more: string[]) => runScript([...words, '--days', '3', ...more], endpoint.env)
const COPY = 'debit-collection-sandbox-drill-\\d{14}'

test('a drill restores a copy, checks each invariant, states the time and removes the copy', async () => {
  const { code, stdout, stderr } = await drill()
  expect({ code, stderr, others: stdout.match(/^FAIL .*/gm) }).toEqual({
    ...{ code: 0, stderr: '', others: null },
  })
  expect(stdout).toMatch(new RegExp(`^restores debits of .*Z, -?\\d+ s ago, to ${COPY}$`, 'm'))
  expect(stdout).toMatch(/^ok restored in 0 min \d+ s$/m)
  expect(stdout).toMatch(/^ok \d{4}-\d\d-\d\d audit ok$/m)
  expect(stdout.match(/^ok invariant \d+: .* checked$/gm)?.length).toBeGreaterThan(20)
  expect(stdout).toMatch(/^recovery time 0 min \d+ s: restore /m)
  expect(stdout.trimEnd().endsWith('ok removed')).toBe(true)
  expect([...endpoint.state.tables]).toEqual([])
}, 60_000)

test('a drill calls nothing but its copy, the buckets and descriptions', async () => {
  await drill()
  const copy = new RegExp(`^\\w+ ${COPY}$`)
  const others = new Set(endpoint.state.calls.filter((call) => !copy.test(call)))
  expect([...others].sort()).toEqual([
    'DescribeContinuousBackups debits',
    'DescribeTable debits',
    'GetFunctionConfiguration',
    'GetObjectCommand audit',
    'GetObjectCommand reports',
    'ListTables undefined',
  ])
  const own = new Set(
    endpoint.state.calls.filter((call) => copy.test(call)).map((call) => call.split(' ')[0]),
  )
  expect(own).toContain('Query')
  expect(own).toContain('DeleteTable')
}, 60_000)

test('a drill of books with a difference names it, exits with 1 and removes the copy', async () => {
  const batch = items.findIndex(({ entity }) => entity === 'batch')
  const [whole] = items.splice(batch, 1)
  const { code, stdout } = await drill()
  items.push(...(whole ? [whole] : []))
  expect(code).toBe(1)
  expect(stdout).toMatch(/^FAIL \d{4}-\d\d-\d\d books .*$/m)
  expect(stdout).toMatch(/^FAIL invariant \d+: .*: \d+ differences$/m)
  expect([...endpoint.state.tables]).toEqual([])
}, 60_000)

test('an interrupted drill waits until its copy can be removed', async () => {
  endpoint.state.creating = 4
  const run = start(words, endpoint.env)
  await printedBy(run, /^restores .* to (\S+)$/m)
  run.child.kill('SIGINT')
  expect(await run.exited).toBe(1)
  expect(run.printed.out).toMatch(/^interrupted: .*\n(?:.*\n)*ok removed\n$/m)
  expect(run.printed.err).toBe('The drill was interrupted\n')
  expect([...endpoint.state.tables]).toEqual([])
}, 60_000)

test('the copy of a killed drill stops the next one until --remove removes it', async () => {
  endpoint.state.creating = 1_000
  const run = start(words, endpoint.env)
  await printedBy(run, /^restores .* to (\S+)$/m)
  await eventually(() => {
    run.child.kill('SIGINT')
    expect(run.child.exitCode).toBe(1)
  })
  await run.exited
  expect(run.printed.err).toMatch(
    /^The copy is left: debit restore-drill --stage sandbox --remove\n/,
  )
  const [copy = ''] = endpoint.state.tables.keys()
  expect(await drill()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${copy} exists`),
  })
  const left = endpoint.state.tables.get(copy)
  if (left) left.creating = 0
  expect(await drill('--remove')).toMatchObject({
    code: 0,
    stdout: `removes ${copy}\nok removed\n`,
  })
  expect([...endpoint.state.tables]).toEqual([])
}, 60_000)

test('a drill ends in one line without point-in-time recovery, or for a second outside of it', async () => {
  const outside = await drill('--at', '2001-01-01T00:00:00Z')
  expect(outside).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^--at: .* can be restored\n$/),
  })
  endpoint.state.hasRecovery = false
  expect(await drill()).toMatchObject({ code: 1, stderr: 'debits has no point-in-time recovery\n' })
  expect(endpoint.state.calls.filter((call) => call.startsWith('Restore'))).toEqual([])
}, 60_000)
