/** Of a table of pets with figures. */
export function PetTableHead({ figures }: { readonly figures: readonly string[] }) {
  return (
    <thead>
      <tr>
        <th scope="col">Pet</th>
        {figures.map((figure) => (
          <th key={figure} scope="col" className="table__number">
            {figure}
          </th>
        ))}
      </tr>
    </thead>
  )
}
