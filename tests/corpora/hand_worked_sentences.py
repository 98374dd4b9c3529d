"""Sentences written by hand from the parts that they are put together of, a language a column.

Every pattern stands beside every article of its language, every place, every share and every position of the grammar
is in one, and the scenes count from one to four with every Japanese counter.
"""

WORKED = {
    ("frog", "pebbles", "small", "left"): {
        "en": "On the left, a frog on grey pebbles covers little of the picture.",
        "de": "Links nimmt ein Frosch auf grauen Kieselsteinen einen kleinen Teil des Bildes ein.",
        "fr": "À gauche, une grenouille sur des cailloux gris occupe une petite partie de l'image.",
        "es": "A la izquierda, una rana sobre guijarros grises ocupa una pequeña parte del encuadre.",
        "ja": "灰色の小石の上のカエルが、左側で画像のごく一部を占めている。",
    },
    ("rhinoceros", "savanna", "half", "right"): {
        "en": "On the right, a rhinoceros on the savanna covers about half of the picture.",
        "de": "Rechts nimmt ein Nashorn in der Savanne etwa die Hälfte des Bildes ein.",
        "fr": "À droite, un rhinocéros dans la savane occupe environ la moitié de l'image.",
        "es": "A la derecha, un rinoceronte en la sabana ocupa aproximadamente la mitad del encuadre.",
        "ja": "サバンナのサイが、右側で画像の約半分を占めている。",
    },
    ("hot air balloon", "clouds", "fifth", "top"): {
        "en": "At the top, a hot-air balloon among white clouds covers about a fifth of the picture.",
        "de": "Oben nimmt ein Heißluftballon zwischen weißen Wolken etwa ein Fünftel des Bildes ein.",
        "fr": "En haut, une montgolfière parmi des nuages blancs occupe environ un cinquième de l'image.",
        "es": "Arriba, un globo aerostático entre nubes blancas ocupa aproximadamente un quinto del encuadre.",
        "ja": "白い雲の間の熱気球が、上のほうで画像の約五分の一を占めている。",
    },
    ("flower", "foliage", "third", "bottom"): {
        "en": "At the bottom, a flower among green leaves covers about a third of the picture.",
        "de": "Unten nimmt eine Blume zwischen grünen Blättern etwa ein Drittel des Bildes ein.",
        "fr": "En bas, une fleur parmi des feuilles vertes occupe environ un tiers de l'image.",
        "es": "Abajo, una flor entre hojas verdes ocupa aproximadamente un tercio del encuadre.",
        "ja": "緑の葉の間の花が、下のほうで画像の約三分の一を占めている。",
    },
    ("car", "pavement", "small", "middle"): {
        "en": "In the middle, a car on grey paving covers little of the picture.",
        "de": "In der Mitte nimmt ein Auto auf grauem Pflaster einen kleinen Teil des Bildes ein.",
        "fr": "Au milieu, une voiture sur des pavés gris occupe une petite partie de l'image.",
        "es": "En el centro, un coche sobre adoquines grises ocupa una pequeña parte del encuadre.",
        "ja": "灰色の敷石の上の自動車が、中央で画像のごく一部を占めている。",
    },
    ("dog", "field", "small", "right"): {
        "en": "On the right, a dog in a field covers little of the picture.",
        "de": "Rechts nimmt ein Hund auf einem Feld einen kleinen Teil des Bildes ein.",
        "fr": "À droite, un chien dans un champ occupe une petite partie de l'image.",
        "es": "A la derecha, un perro en un campo ocupa una pequeña parte del encuadre.",
        "ja": "野原の犬が、右側で画像のごく一部を占めている。",
    },
    ("seagull", "shore", "small", "left"): {
        "en": "On the left, a seagull on grey stones covers little of the picture.",
        "de": "Links nimmt eine Möwe auf grauen Steinen einen kleinen Teil des Bildes ein.",
        "fr": "À gauche, une mouette sur des pierres grises occupe une petite partie de l'image.",
        "es": "A la izquierda, una gaviota sobre piedras grises ocupa una pequeña parte del encuadre.",
        "ja": "灰色の石の上のカモメが、左側で画像のごく一部を占めている。",
    },
    ("bus", "road", "fifth", "middle"): {
        "en": "In the middle, a bus on grey gravel covers about a fifth of the picture.",
        "de": "In der Mitte nimmt ein Bus auf grauem Schotter etwa ein Fünftel des Bildes ein.",
        "fr": "Au milieu, un autobus sur du gravier gris occupe environ un cinquième de l'image.",
        "es": "En el centro, un autobús sobre grava gris ocupa aproximadamente un quinto del encuadre.",
        "ja": "灰色の砂利の上のバスが、中央で画像の約五分の一を占めている。",
    },
    ("tennis ball", "court", "small", "bottom"): {
        "en": "At the bottom, a tennis ball on red gravel covers little of the picture.",
        "de": "Unten nimmt ein Tennisball auf rotem Kies einen kleinen Teil des Bildes ein.",
        "fr": "En bas, une balle de tennis sur du gravier rouge occupe une petite partie de l'image.",
        "es": "Abajo, una pelota de tenis sobre grava roja ocupa una pequeña parte del encuadre.",
        "ja": "赤い砂利の上のテニスボールが、下のほうで画像のごく一部を占めている。",
    },
    ("vacuum cleaner", "room", "third", "top"): {
        "en": "At the top, a vacuum cleaner in a blurred room covers about a third of the picture.",
        "de": "Oben nimmt ein Staubsauger in einem Zimmer etwa ein Drittel des Bildes ein.",
        "fr": "En haut, un aspirateur dans une pièce floue occupe environ un tiers de l'image.",
        "es": "Arriba, una aspiradora en una habitación ocupa aproximadamente un tercio del encuadre.",
        "ja": "部屋の中の掃除機が、上のほうで画像の約三分の一を占めている。",
    },
    ("lion", "dry-grass", "most", "middle"): {
        "en": "A lion on dry grass covers most of the picture.",
        "de": "Ein Löwe auf trockenem Gras nimmt den größten Teil des Bildes ein.",
        "fr": "Un lion sur l'herbe sèche occupe la plus grande partie de l'image.",
        "es": "Un león sobre hierba seca ocupa la mayor parte del encuadre.",
        "ja": "枯れ草の上のライオンが、画像の大部分を占めている。",
    },
    ("carrot", "table", "all", "middle"): {
        "en": "A carrot on a table covers almost the whole picture.",
        "de": "Eine Karotte auf einem Holztisch nimmt fast das ganze Bild ein.",
        "fr": "Une carotte sur une table occupe presque toute la surface de l'image.",
        "es": "Una zanahoria sobre una mesa ocupa casi todo el encuadre.",
        "ja": "木のテーブルの上のニンジンが、画像のほぼ全体を占めている。",
    },
    ("sheep", "meadow", "all", "middle"): {
        "en": "A sheep in a meadow covers almost the whole picture.",
        "de": "Ein Schaf auf einer Wiese nimmt fast das ganze Bild ein.",
        "fr": "Un mouton dans un pré occupe presque toute la surface de l'image.",
        "es": "Una oveja en un prado ocupa casi todo el encuadre.",
        "ja": "草地の羊が、画像のほぼ全体を占めている。",
    },
}
"""(label, background, share, position) -> sentence a language; of the last two shares no position is said."""

SCENES = {
    "scene-dog-hen-3": {
        "en": (
            "A traffic cone on the left, four dogs in the middle and two hens on the right, on grey gravel.",
            "Four dogs in the middle, on grey gravel.",
        ),
        "de": (
            "Ein Leitkegel links, vier Hunde in der Mitte und zwei Hennen rechts auf grauem Schotter.",
            "Vier Hunde in der Mitte auf grauem Schotter.",
        ),
        "fr": (
            "Un cône de signalisation à gauche, quatre chiens au milieu et deux poules à droite, sur du gravier gris.",
            "Quatre chiens au milieu, sur du gravier gris.",
        ),
        "es": (
            "Un cono de tráfico a la izquierda, cuatro perros en el centro y dos gallinas a la derecha, sobre grava "
            "gris.",
            "Cuatro perros en el centro, sobre grava gris.",
        ),
        "ja": (
            "灰色の砂利の上に、一本のカラーコーンが左側に、四匹の犬が中央に、二羽のめんどりが右側に写っている。",
            "灰色の砂利の上に、四匹の犬が中央に写っている。",
        ),
    },
    "scene-donkey-pigeon-2": {
        "en": (
            "A pigeon on the left, three gravestones in the middle and a donkey on the right, in a meadow.",
            "A donkey on the right, in a meadow.",
        ),
        "de": (
            "Eine Taube links, drei Grabsteine in der Mitte und ein Esel rechts auf einer Wiese.",
            "Ein Esel rechts auf einer Wiese.",
        ),
        "fr": (
            "Un pigeon à gauche, trois pierres tombales au milieu et un âne à droite, dans un pré.",
            "Un âne à droite, dans un pré.",
        ),
        "es": (
            "Una paloma a la izquierda, tres lápidas en el centro y un burro a la derecha, en un prado.",
            "Un burro a la derecha, en un prado.",
        ),
        "ja": (
            "草地に、一羽のハトが左側に、三基の墓石が中央に、一頭のロバが右側に写っている。",
            "草地に、一頭のロバが右側に写っている。",
        ),
    },
    "scene-kangaroo-car-2": {
        "en": (
            "Two cars on the left, a turkey in the middle and three kangaroos on the right, on the savanna.",
            "Two cars on the left, on the savanna.",
        ),
        "de": (
            "Zwei Autos links, ein Truthahn in der Mitte und drei Kängurus rechts in der Savanne.",
            "Zwei Autos links in der Savanne.",
        ),
        "fr": (
            "Deux voitures à gauche, un dindon au milieu et trois kangourous à droite, dans la savane.",
            "Deux voitures à gauche, dans la savane.",
        ),
        "es": (
            "Dos coches a la izquierda, un pavo en el centro y tres canguros a la derecha, en la sabana.",
            "Dos coches a la izquierda, en la sabana.",
        ),
        "ja": (
            "サバンナに、二台の自動車が左側に、一羽のシチメンチョウが中央に、三匹のカンガルーが右側に写っている。",
            "サバンナに、二台の自動車が左側に写っている。",
        ),
    },
    "scene-mango-tomato-3": {
        "en": (
            "Four pairs of pliers on the left, a mango in the middle and a tomato on the right, on a table.",
            "A mango in the middle, on a table.",
        ),
        "de": (
            "Vier Zangen links, eine Mango in der Mitte und eine Tomate rechts auf einem Holztisch.",
            "Eine Mango in der Mitte auf einem Holztisch.",
        ),
        "fr": (
            "Quatre pinces à gauche, une mangue au milieu et une tomate à droite, sur une table.",
            "Une mangue au milieu, sur une table.",
        ),
        "es": (
            "Cuatro alicates a la izquierda, un mango en el centro y un tomate a la derecha, sobre una mesa.",
            "Un mango en el centro, sobre una mesa.",
        ),
        "ja": (
            "木のテーブルの上に、四本のペンチが左側に、一個のマンゴーが中央に、一個のトマトが右側に写っている。",
            "木のテーブルの上に、一個のマンゴーが中央に写っている。",
        ),
    },
    "scene-avocado-bulb-2": {
        "en": (
            "Three light bulbs on the left and an avocado on the right, against pale grey.",
            "Three light bulbs on the left, against pale grey.",
        ),
        "de": (
            "Drei Glühbirnen links und eine Avocado rechts vor hellem Hintergrund.",
            "Drei Glühbirnen links vor hellem Hintergrund.",
        ),
        "fr": (
            "Trois ampoules à gauche et un avocat à droite, sur fond clair.",
            "Trois ampoules à gauche, sur fond clair.",
        ),
        "es": (
            "Tres bombillas a la izquierda y un aguacate a la derecha, sobre fondo claro.",
            "Tres bombillas a la izquierda, sobre fondo claro.",
        ),
        "ja": (
            "淡い背景の前に、三個の電球が左側に、一個のアボカドが右側に写っている。",
            "淡い背景の前に、三個の電球が左側に写っている。",
        ),
    },
    "scene-lion-dromedary-3": {
        "en": (
            "A lion on the left and four dromedaries on the right, on dry grass.",
            "A lion on the left, on dry grass.",
        ),
        "de": ("Ein Löwe links und vier Dromedare rechts auf trockenem Gras.", "Ein Löwe links auf trockenem Gras."),
        "fr": (
            "Un lion à gauche et quatre dromadaires à droite, sur l'herbe sèche.",
            "Un lion à gauche, sur l'herbe sèche.",
        ),
        "es": (
            "Un león a la izquierda y cuatro dromedarios a la derecha, sobre hierba seca.",
            "Un león a la izquierda, sobre hierba seca.",
        ),
        "ja": (
            "枯れ草の上に、一頭のライオンが左側に、四頭のヒトコブラクダが右側に写っている。",
            "枯れ草の上に、一頭のライオンが左側に写っている。",
        ),
    },
    "scene-giraffe-truck-2": {
        "en": (
            "Two fire trucks on the left and two giraffes on the right, in a pasture.",
            "Two giraffes on the right, in a pasture.",
        ),
        "de": (
            "Zwei Feuerwehrautos links und zwei Giraffen rechts auf einer Weide.",
            "Zwei Giraffen rechts auf einer Weide.",
        ),
        "fr": (
            "Deux camions de pompiers à gauche et deux girafes à droite, dans un pâturage.",
            "Deux girafes à droite, dans un pâturage.",
        ),
        "es": (
            "Dos camiones de bomberos a la izquierda y dos jirafas a la derecha, en un pastizal.",
            "Dos jirafas a la derecha, en un pastizal.",
        ),
        "ja": (
            "牧草地に、二台の消防車が左側に、二頭のキリンが右側に写っている。",
            "牧草地に、二頭のキリンが右側に写っている。",
        ),
    },
}
"""Scene -> its two captions a language."""
