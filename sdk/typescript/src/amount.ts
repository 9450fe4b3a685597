/** An amount in GHS: text with exactly two decimals, or whole pesewas. */
export type Amount = string | { pesewas: number | bigint }

/** Returns an amount in the form of the API, such as `100.00`. @throws TypeError for a number or another text */
export const amountText = (amount: Amount): string => {
  if (typeof amount === 'string') {
    if (/^[0-9]+\.[0-9]{2}$/.test(amount)) return amount
    throw new TypeError(`amount must be text with two decimals, such as "100.00", not "${amount}"`)
  }
  if (typeof amount !== 'object' || amount === null) {
    throw new TypeError(
      'amount must be text, such as "100.00", or { pesewas: 10000 }: a number can lose pesewas',
    )
  }
  const { pesewas } = amount
  if ((typeof pesewas !== 'bigint' && !Number.isSafeInteger(pesewas)) || pesewas < 0) {
    throw new TypeError('pesewas must be a whole number, not below zero')
  }
  const digits = String(pesewas).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/**
 * Returns the pesewas of an amount in a reply (`"100.00"`) or an event (`100.00`). A number with at
 * most two decimals rounds exactly.
 */
export const pesewasOf = (amount: string | number): number => Math.round(Number(amount) * 100)
