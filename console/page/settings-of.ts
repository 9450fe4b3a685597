import { withSeparators } from './amounts.ts'

/** The present values of the options of a form, found in the view of its object. */

/** The place in the view of each option that does not have its name. */
const PLACES: Record<string, string> = {
  'settlement-bank': 'settlement_account.bank',
  'settlement-account': 'settlement_account.account_number',
  'settlement-name': 'settlement_account.account_name',
  'fee-basis-points': 'fee_schedule.basis_points',
  'fee-fixed': 'fee_schedule.fixed',
  'fee-minimum': 'fee_schedule.minimum',
  'fee-maximum': 'fee_schedule.maximum',
}

type View = Record<string, unknown>

const textOf = (value: unknown): string => {
  if (value === null) return 'none'
  if (Array.isArray(value)) return value.join(',')
  if (typeof value !== 'object') return String(value)
  const parts = Object.entries(value as View).map(([name, part]) => `${name}=${String(part)}`)
  return parts.join(',')
}

const AMOUNTS = /^(?:daily_limit|fixed|maximum|minimum)$/

/** Returns the members of a view as names and texts, `none` if one is not set. */
export const settingTexts = (view: object): (readonly [name: string, text: string])[] =>
  Object.entries(view).flatMap(([name, value]) => {
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value)
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`.replaceAll('_', ' ')
    const text = textOf(value)
    if (!isGroup) return [[title, AMOUNTS.test(name) ? withSeparators(text) : text]]
    return settingTexts(value).map(([part, text]) => [`${title}: ${part.toLowerCase()}`, text])
  })

/** Returns the value as the option takes it, `none` if it is not set; undefined if no view shows it. */
export const settingOf = (view: object | undefined, option: string): string | undefined => {
  let value: unknown = view
  for (const name of (PLACES[option] ?? option.replaceAll('-', '_')).split('.')) {
    if (value === null) return 'none'
    value = (value as View | undefined)?.[name]
  }
  return value === undefined ? undefined : textOf(value)
}
