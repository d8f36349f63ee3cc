import { type ReactNode, type Ref, useId, useState } from 'preact/compat'

export interface Option {
  /** Unique among the options. */
  readonly key: string
  readonly content: ReactNode
}

interface Props<Choice extends Option> {
  readonly label: string
  /** Announced with the number of options, such as `pets`. */
  readonly noun: string
  readonly text: string
  readonly onType: (text: string) => void
  readonly options: readonly Choice[]
  readonly onPick: (option: Choice) => void
  /** Enter was pressed while no option is active. Without it, Enter picks the first option. */
  readonly onEnter?: (text: string) => void
  readonly placeholder?: string
  readonly field?: Ref<HTMLInputElement>
  readonly onBlur?: () => void
  /** Precedes the text field, such as an icon. */
  readonly icon?: ReactNode
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** A text field with a list of matches. Screen readers hear how many there are and which one is active. */
export function Combobox<Choice extends Option>(props: Props<Choice>) {
  const { label, noun, text, onType, options, onPick, onEnter, placeholder, field, onBlur, icon } = props
  const id = useId()
  const [active, setActive] = useState<number>()
  const isOpen = options.length > 0
  const type = (typed: string) => {
    setActive(undefined)
    onType(typed)
  }
  const pick = (option: Choice) => {
    setActive(undefined)
    onPick(option)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (event.key === 'Enter') {
      const chosen = options[active ?? (onEnter === undefined ? 0 : -1)]
      if (chosen !== undefined) pick(chosen)
      else onEnter?.(text)
    } else if (event.key === 'Escape' && text !== '') type('')
    else if (step !== undefined && isOpen) {
      const from = active ?? (step > 0 ? -1 : 0)
      setActive((from + step + options.length) % options.length)
    } else return
    event.preventDefault()
  }
  return (
    <div className="field combobox">
      <label className="field__label" htmlFor={id}>
        {label}
      </label>
      <div className={icon === undefined ? undefined : 'with-icon'}>
        {icon}
        <input
          ref={field ?? null}
          id={id}
          className="input"
          type="text"
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={`${id}-options`}
          aria-autocomplete="list"
          aria-activedescendant={active === undefined ? undefined : `${id}-${active}`}
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          placeholder={placeholder}
          value={text}
          onChange={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={onKeyDown}
          onBlur={onBlur}
        />
      </div>
      <p className="visually-hidden" role="status">
        {text.trim() === '' ? '' : `${options.length} matching ${noun}`}
      </p>
      <div
        id={`${id}-options`}
        className="combobox__options popup"
        role="listbox"
        aria-label={`Matching ${noun}`}
        hidden={!isOpen}
      >
        {options.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the field, which keeps the focus, do the same
          <div
            key={option.key}
            id={`${id}-${index}`}
            className="combobox__option"
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // Keeps the focus in the field.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(option)}
          >
            {option.content}
          </div>
        ))}
      </div>
    </div>
  )
}
