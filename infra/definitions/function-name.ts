/** Returns the name of a function on AWS, which carries its stage. */
export const functionName = (name: string, stage: string): string =>
  `debit-collection-${stage}-${name}`
