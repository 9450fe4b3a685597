import { expect, test } from 'vitest'
import { readOptions } from '../../commands/operator-words.ts'
import { playScenario } from '../../sandbox/scenarios/routes.ts'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { type NounCall, operateFully } from '../../shared/operator/operate.ts'
import { secretsOf } from '../../shared/operator/verbs.ts'
import type { Service, Shown } from '../support/running-service.ts'
import { isRehearsed } from './not-rehearsed.ts'
import { commandsOf, operatorWords } from './page.ts'

/** Runs the commands of a section of a page in order, during an incident that its test creates. */

/**
 * Values by the words of the page that they replace, such as `ID`; the name of a file has its content.
 * `--option` adds an option that the text omits.
 */
type Values = Record<string, string>

export type Runbook = {
  /** Values of all commands. */
  values: Values
  /**
   * Runs the next command of the page.
   * @param start its first words
   * @param expected its result in part, or `{error}`
   * @param by the operator
   */
  run: (start: string, expected: object | string, values?: Values, by?: string) => Promise<Shown>
}

/** Reads a command as `commands/operator.ts` does. */
const callOf = (words: readonly string[], values: Values): NounCall => {
  const more = Object.entries(values).filter(([word]) => word.startsWith('--'))
  const [line = '', input] = words
    .map((word) => values[word] ?? word)
    .join('\0')
    .split('\0<\0')
  const [noun = '', verb = '', ...given] = [...line.split('\0'), ...more.flat()]
  const row = nouns[noun]?.verbs[verb]
  if (!row) throw new Error(`${noun} ${verb} is unknown`)
  const options = readOptions(given, row)
  const [secret] = secretsOf(row).filter((name) => options[name] === '-')
  return { noun, verb, options: { ...options, ...(secret && { [secret]: input ?? '' }) } }
}

const ENGINEER = 'local:engineer'

/** @returns a function that declares the test of a section by its anchor */
export const useRunbooks = (service: Service) => (anchor: string) => {
  const commands = commandsOf(anchor).filter((one) => operatorWords(one) && isRehearsed(one))
  return (title: string, act: (runbook: Runbook) => Promise<void>): void =>
    test(title, async () => {
      const remaining = [...commands]
      const values: Values = {}
      await act({
        values,
        run: async (start, expected, own = {}, by = ENGINEER) => {
          const command = remaining.shift() ?? 'the end of the section'
          const words = operatorWords(command) ?? []
          expect(words.slice(0, 2).join(' '), command).toBe(start)
          const call = callOf(words, { ...values, ...own })
          const reply = await operateFully(call, ({ noun, verb, options }) =>
            service.operate(noun, verb, options, by),
          )
          const result = 'error' in reply ? { error: reply.error } : reply.result
          expect({ [start]: result }, command).toMatchObject({ [start]: expected })
          const isRefused = typeof expected === 'object' && 'error' in expected
          expect('error' in reply, command).toBe(isRefused)
          return result
        },
      })
      expect(commands.length).toBeGreaterThan(0)
      expect(remaining, 'commands that did not run').toEqual([])
      await expectSound(service)
    })
}

export const clockOf = (service: Service) => service.sandbox().control.clock
export const today = (service: Service): Day => dayOf(clockOf(service).now())

/** Returns a settlement day after today. */
export const nightAfter = (service: Service, days: number): Day =>
  dayAfter(today(service), days + 1)

/** Moves the clock of the sandbox, for example past a cache or a delay. */
export const advance = (service: Service, seconds: number): Promise<void> =>
  clockOf(service).advance(seconds * 1000)

/** Checks that the table has no difference and the ledger balances. */
const expectSound = async (service: Service): Promise<void> => {
  await clockOf(service).idle()
  const date = today(service)
  const { invariants } = await service.call('reconciliation', 'run', { date })
  expect(invariants.filter(({ differences }: Shown) => differences > 0)).toEqual([])
  expect(await service.call('ledger', 'show', { date })).toMatchObject({ trial_balance: '0.00' })
}

/** Returns the types of the ledger entries of a debit, a batch or a remittance on this day and the last, sorted. */
export const entriesOf = async (service: Service, id: string): Promise<string[]> => {
  // A runbook may end after midnight.
  const days = [dayAfter(today(service), -1), today(service)]
  const journals = await Promise.all(days.map((date) => service.call('ledger', 'show', { date })))
  const isOwn = ({ source }: Shown) => (source.reference ?? source.id) === id
  return journals
    .flatMap(({ entries }) => entries)
    .filter(isOwn)
    .map(({ type }: Shown) => type)
    .sort()
}

/** Plays a scenario of the sandbox (docs/testing.md#scenarios) and returns its end. */
export const play = async (service: Service, name: string): Promise<Shown> => {
  const end: Shown = await playScenario(service.sandbox().control, {}, { name })
  if ('error' in end) throw new Error(`${name}: ${JSON.stringify(end)}`)
  return end
}
