// A typed collection with generics, mapped types and overloads.
interface Entity {
  readonly id: number;
}

type Draft<T extends Entity> = Omit<T, "id"> & Partial<Pick<T, "id">>;

class Store<T extends Entity> {
  private items = new Map<number, T>();
  constructor(private next: number = 1) {}

  save(draft: Draft<T>): T {
    const item = { ...draft, id: draft.id ?? this.next++ } as T;
    this.items.set(item.id, item);
    return item;
  }

  find(id: number): T | undefined;
  find(test: (item: T) => boolean): T[];
  find(wanted: number | ((item: T) => boolean)): T | T[] | undefined {
    return typeof wanted === "number" ? this.items.get(wanted) : [...this.items.values()].filter(wanted);
  }

  pluck<K extends keyof T>(key: K): T[K][] {
    return [...this.items.values()].map((item) => item[key]);
  }
}

interface Book extends Entity {
  title: string;
  pages?: number;
}

const books = new Store<Book>(10);
books.save({ title: "Tides", pages: 120 });
books.save({ title: "Winds" });
books.save({ id: 3, title: "Clouds", pages: 310 });
console.log(books.pluck("title"), books.find(11)!.title);
console.log(books.find((book: Book) => (book.pages ?? 0) > 100).map(({ id }) => id));
