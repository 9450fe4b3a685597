import { expect, test } from 'vitest'
import { withFaultReports } from '../../sandbox/faults.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { type LogRecord, loggedError, logLine } from '../../sandbox/terminal.ts'

/** The lines of faults in the terminal of a sandbox. */

const TIME = /^\d\d:\d\d:\d\d\.\d{3} /

const shown = (record: LogRecord, isVerbose = false): string[] => {
  const [line = '', ...details] = logLine('charge', record, {
    isVerbose,
    stream: process.stderr,
  }).split('\n')
  expect(line).toMatch(TIME)
  return [line.replace(TIME, ''), ...details.map((detail) => detail.trim())]
}

const frame = { timestamp: '2026-11-21T10:00:00.000Z', service: 'debit-collection-sandbox' }

const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
const error = { ...loggedError(new TypeError('fetch failed', { cause })), code: 'X' }

const fault: LogRecord = {
  level: 'ERROR',
  message: 'fault',
  ...frame,
  operation: 'charge',
  reference: 'DCS-20261121-ABC123',
  request_id: '0f4b2c1e',
  subject: ['demo', 'W1'],
  examples: [{ id: 1 }],
  error,
}

const LINE =
  'fault    charge TypeError: fetch failed, caused by Error: connect ECONNREFUSED 127.0.0.1:1 ' +
  'reference=DCS-20261121-ABC123 request_id=0f4b2c1e subject=demo,W1'

test('a fault is one line with the function, the error, its causes and the ids', () => {
  expect(shown(fault)).toEqual([LINE])
})

test('the verbose form adds the other fields and the stack of each error', () => {
  const [line, ...details] = shown(fault, true)
  expect(line).toBe(LINE)
  expect(details[0]).toBe('{"examples":[{"id":1}]}')
  expect(details[1]).toBe('{"name":"TypeError","message":"fetch failed","code":"X"}')
  expect(details[2]).toMatch(/^at .*faults\.test\.ts/)
  expect(details).toContain('{"name":"Error","message":"connect ECONNREFUSED 127.0.0.1:1"}')
})

test('a text of an error neither starts a line nor controls the terminal, and is cut', () => {
  const text = `a\n\u001b[2J\u202eb ${'c'.repeat(300)}`
  const [line = '', ...others] = shown({ level: 'ERROR', message: 'fault', ...frame, error: text })
  expect(others).toEqual([])
  expect(line).toBe(`fault    charge a [2J b ${'c'.repeat(191)}…`)
  const [ids] = shown({ level: 'ERROR', message: 'fault', ...frame, error: 'x', id: 'a\u001bb' })
  expect(ids).toBe('fault    charge x id=a b')
})

test('a line of another kind keeps its message and level', () => {
  const late = { ...frame, message: 'bank report rejected', kind: 'late_completion' }
  expect(shown({ level: 'ERROR', ...late })).toEqual([
    'error    charge bank report rejected kind=late_completion',
  ])
  const unsent = { ...frame, message: 'messages not sent', error: { name: 'E', message: 'no' } }
  expect(shown({ level: 'WARN', ...unsent })).toEqual(['warn     charge messages not sent: E: no'])
  expect(shown({ level: 'INFO', ...frame, message: 'request' })).toEqual([
    'info     charge request',
  ])
})

test('an operator function reports a fault once, and its timeout', async () => {
  const faults: unknown[] = []
  const load = async () => ({
    handler: async ({ wait }: { wait?: boolean }) => {
      if (wait) return new Promise(() => undefined)
      throw new Error('logged by the function')
    },
  })
  const row = { name: 'manage-bank', timeoutSeconds: 0.01 } as never
  const functions = withFaultReports(await loadFunctions([row], load), (...words) =>
    faults.push(words.map(String)),
  )
  await expect(functions.invoke('manage-bank', {})).rejects.toThrow('logged')
  expect(faults).toEqual([])
  await expect(functions.invoke('manage-bank', { wait: true })).rejects.toThrow('timed out')
  const timeout = 'Sandbox.Timedout: manage-bank: task timed out after 0.01 seconds'
  expect(faults).toEqual([['manage-bank', timeout]])
})
