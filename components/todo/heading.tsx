import { type ComponentPropsWithoutRef, createContext, useContext } from 'react'

const TopLevel = createContext<1 | 2>(2)

/** Says at which level a todo's own heading stands: 1 on a page of its own, else 2. */
export const HeadingsFrom = TopLevel.Provider

/** A heading within a todo, so many levels below the todo's own. */
export function Heading({ below, ...rest }: ComponentPropsWithoutRef<'h2'> & { below: 0 | 1 }) {
  const level = (useContext(TopLevel) + below) as 1 | 2 | 3
  const Element = `h${level}` as const
  return <Element {...rest} />
}
