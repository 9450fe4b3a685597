/** Amounts in GHS as the service writes them, such as 1234.50. */

const pesewasOf = (amount: string): number => Math.round(Number(amount) * 100)

/** Separates thousands in a text that is an amount, such as 10495.35 or `at most 10495.35 GHS`. */
export const withSeparators = <T>(value: T): T | string =>
  typeof value === 'string' && /^(?:at most )?-?\d+\.\d{2}(?: GHS)?$/.test(value)
    ? value.replace(/\B(?=(?:\d{3})+\.)/g, ',')
    : value

/** Adds amounts; null counts as zero. */
export const sumOf = (amounts: readonly (string | null)[]): string =>
  (amounts.reduce((sum, amount) => sum + pesewasOf(amount ?? '0'), 0) / 100).toFixed(2)

export const isBelowZero = (amount: string | null): boolean => amount?.startsWith('-') === true

export const isAboveZero = (amount: string | null): boolean => pesewasOf(amount ?? '0') > 0
